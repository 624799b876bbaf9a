"""`svc listen`: what the payment processor sends to the service, and what becomes of it, as it arrives."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from cli.integrator.output import UNREACHABLE, Failure, Json, Output, answering, plain, warn
from cli.integrator.programs import ProgramId, meant
from cli.integrator.service import ServiceClient

DONE = ("recorded", "repeated", "linked", "same_sale", "test", "ignored", "organic", "not_referred")


def listen(
    program: ProgramId = None,
    interval: Annotated[float, typer.Option(min=0.2, max=60, help="Seconds between two looks.")] = 2,
    as_json: Json = False,
) -> None:
    """Show each event of the payment processor as it arrives, with its outcome and what to do, until Ctrl-C.

    With --json it prints one JSON object on a line for each event.

    Example:
      svc listen

    """
    with answering(as_json=as_json) as output:
        service, program_id = meant(program, output)
        path = f"/api/programs/{program_id}/payment-events"
        seen = max((each["id"] for each in service.call("GET", path, limit=1)["data"]), default=0)
        typer.echo(f"Listening to program {program_id}. Ctrl-C stops.", err=True)
        try:
            while True:
                with _outages_reported():
                    for event in _newer(service, path, seen):
                        _show(output, event, _advice(service, program_id, event))
                        seen = event["id"]
                time.sleep(interval)
        except KeyboardInterrupt:
            output.say("Stopped.")


@contextmanager
def _outages_reported() -> Iterator[None]:
    """Say that the service does not respond, and go on: it may be restarting."""
    try:
        yield
    except Failure as failure:
        if failure.exit_code != UNREACHABLE:
            raise
        warn(failure.error["message"])


def _newer(service: ServiceClient, path: str, seen: int) -> list[dict[str, Any]]:
    """Return the events after the last one that was shown, oldest first."""
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = service.call("GET", path, limit=200, cursor=cursor)
        found += [each for each in page["data"] if each["id"] > seen]
        cursor = page["next_cursor"]
        if cursor is None or len(page["data"]) == 0 or page["data"][-1]["id"] <= seen:
            return found[::-1]


def _advice(service: ServiceClient, program_id: int, event: dict[str, Any]) -> str | None:
    """Return what to do about an event that did not become a sale, None for another."""
    if event["outcome"] in DONE:
        return None
    found = service.call("GET", f"/api/programs/{program_id}/explain", transaction_id=event["event_id"])
    return None if found["smallest_change"] is None else f"{found['message']} {found['smallest_change']}"


def _show(output: Output, event: dict[str, Any], advice: str | None) -> None:
    amount = "" if event["currency"] is None else f" {event['amount_cents']} {event['currency']} (minor units)"
    subject = event["transaction_id"] or event["waits_for"] or ""
    output.say(
        f"{event['received_at']} [bold]{plain(event['type'])}[/] {plain(event['outcome'])} {plain(subject)}{amount}"
    )
    if advice:
        output.say(f"  {plain(advice)}")
    output.result(event | {"advice": advice})
