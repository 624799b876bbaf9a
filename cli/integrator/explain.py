"""`svc explain TRANSACTION`: why a sale was credited or not, as the logged-in account."""

from typing import Annotated, Any

import typer

from cli.integrator.output import Json, Output, answering, plain
from cli.integrator.programs import ProgramId, meant

MARKS = {"pass": "[green]pass[/]", "fail": "[red]fail[/]", "unknown": "[yellow]  ? [/]"}


def explain(
    transaction: Annotated[
        str, typer.Argument(metavar="TRANSACTION", help="The sale's transaction_id, or any id of Stripe's.")
    ],
    program: ProgramId = None,
    as_json: Json = False,
) -> None:
    """Explain why a sale was credited or not, even if it was rejected or never arrived.

    Exit code 0: it is credited, whole or in part; 1: it is not.

    Example:
      svc explain inv-1042

    """
    with answering(as_json=as_json) as output:
        service, program_id = meant(program, output)
        found = service.call("GET", f"/api/programs/{program_id}/explain", transaction_id=transaction)
        _say(output, found)
        output.result(found)
    if not found["verdict"].startswith("credited"):
        raise typer.Exit(1)


def _say(output: Output, found: dict[str, Any]) -> None:
    output.say(f"[bold]{plain(found['verdict'])}[/]: {plain(found['message'])}")
    for step in found["trace"]:
        output.say(f"  {MARKS[step['state']]}  {step['step']:<10}  {plain(step['text'])}")
    for call in found["refused_calls"]:
        output.say(f"  rejected at {call['at']}: {plain(call['call'])} with {plain(call['code'])}")
    if found["smallest_change"]:
        output.say(f"Smallest change: {plain(found['smallest_change'])}")
