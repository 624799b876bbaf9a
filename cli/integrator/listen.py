"""`svc listen`: what the payment processor sends to the service, and what becomes of it, as it arrives."""

import time
from itertools import takewhile
from typing import Annotated, Any

import typer

from cli.integrator.output import UNREACHABLE, Failure, command, plain, print_json, say, warn
from cli.integrator.programs import ProgramId, chosen
from cli.integrator.service import ServiceClient

DONE = ("recorded", "repeated", "linked", "same_sale", "test", "ignored", "organic", "not_referred")


@command()
def listen(
    program: ProgramId = None,
    interval: Annotated[float, typer.Option(min=0.2, max=60, help="Seconds between two looks.")] = 2,
) -> None:
    """Show each event of the payment processor as it arrives, with its outcome and what to do, until Ctrl-C.

    With --json it prints one JSON object on a line for each event.

    Example: svc listen
    """
    service, program_id = chosen(program)
    path = f"/api/programs/{program_id}/payment-events"
    seen = max((each["id"] for each in service.call("GET", path, limit=1)["data"]), default=0)
    typer.echo(f"Listening to program {program_id}. Ctrl-C stops.", err=True)
    try:
        while True:
            try:
                newer = takewhile(lambda each: each["id"] > seen, service.rows(path))  # noqa: B023 - read at once
                for event in list(newer)[::-1]:
                    _show(event, _advice(service, program_id, event))
                    seen = event["id"]
            except Failure as failure:
                if failure.exit_code != UNREACHABLE:
                    raise
                warn(failure.error["message"])  # the service may be restarting
            time.sleep(interval)
    except KeyboardInterrupt:
        say("Stopped.")


def _advice(service: ServiceClient, program_id: int, event: dict[str, Any]) -> str | None:
    """Return what to do about an event that did not become a sale, None for another."""
    if event["outcome"] in DONE:
        return None
    found = service.call("GET", f"/api/programs/{program_id}/explain", transaction_id=event["event_id"])
    return found["smallest_change"] and f"{found['message']} {found['smallest_change']}"


def _show(event: dict[str, Any], advice: str | None) -> None:
    amount = "" if event["currency"] is None else f" {event['amount_cents']} {event['currency']} (minor units)"
    subject = event["transaction_id"] or event["waits_for"] or ""
    say(f"{event['received_at']} [bold]{plain(event['type'])}[/] {plain(event['outcome'])} {plain(subject)}{amount}")
    if advice:
        say(f"  {plain(advice)}")
    print_json(event | {"advice": advice})
