"""What the service knows of a program (`svc status`), of a sale (`svc explain`) and of payments (`svc listen`)."""

import time
from itertools import takewhile
from typing import Annotated, Any

import typer

from cli.integrator import project
from cli.integrator.accounts import ProgramId, chosen
from cli.integrator.output import UNREACHABLE, Answer, Failure, command, print_json, say, warn, written

DONE = ("recorded", "repeated", "linked", "same_sale", "test", "ignored", "organic", "not_referred")


@command()
def status() -> Answer:
    """Show the program's health and the open steps of its integration."""
    found = read()
    return Answer(found, written("integrator/status", **found, next=next_step(found)))


def read() -> dict[str, Any]:
    """Return the data of GET /api/v1/cli/status. Raises Failure."""
    found: dict[str, Any] = project.service().call("GET", "/api/v1/cli/status")["data"]
    return found


def next_step(found: dict[str, Any]) -> str:
    """Return the next step as text."""
    steps = (step["next_action"] for step in found["checklist"] if not step["done"])
    return str(next(steps, "nothing, every step is done."))


@command()
def explain(transaction: Annotated[str, typer.Argument(metavar="TRANSACTION")], program: ProgramId = None) -> Answer:
    """Explain why a sale was credited or not, even if it was rejected or never arrived."""
    service, program_id = chosen(program)
    found = service.call("GET", f"/api/programs/{program_id}/explain", transaction_id=transaction)
    return Answer(found, written("integrator/explain", **found), ok=found["verdict"].startswith("credited"))


@command()
def listen(program: ProgramId = None, interval: Annotated[float, typer.Option(min=0.2, max=60)] = 2) -> None:
    """Show each event of the payment processor as it arrives, with its outcome and what to do, until Ctrl-C."""
    service, program_id = chosen(program)
    path = f"/api/programs/{program_id}/payment-events"
    seen = max((each["id"] for each in service.call("GET", path, limit=1)["data"]), default=0)
    typer.echo(f"Listening to program {program_id}. Ctrl-C stops.", err=True)
    try:
        while True:
            try:
                newer = takewhile(lambda each: each["id"] > seen, service.rows(path))  # noqa: B023 - read at once
                for event in list(newer)[::-1]:
                    _show(service, program_id, event)
                    seen = event["id"]
            except Failure as failure:
                if failure.exit_code != UNREACHABLE:
                    raise
                warn(failure.error["message"])  # the service may be restarting
            time.sleep(interval)
    except KeyboardInterrupt:
        say("Stopped.")


def _show(service: project.ServiceClient, program_id: int, event: dict[str, Any]) -> None:
    advice = None
    if event["outcome"] not in DONE:
        found = service.call("GET", f"/api/programs/{program_id}/explain", transaction_id=event["event_id"])
        advice = found["smallest_change"] and f"{found['message']} {found['smallest_change']}"
    shown = event | {"advice": advice}
    say(written("integrator/event", **shown))
    print_json(shown)
