"""`svc status`, the health of the program, and `svc explain`, why a sale was credited or not."""

from typing import Annotated, Any

import typer

from cli.integrator import project
from cli.integrator.output import Answer, command, plain, say
from cli.integrator.programs import ProgramId, chosen

HEADLESS = "No click has counted yet: those of headless browsers and bots count only in a sandbox (svc init --sandbox)."
MARKS = {"pass": "[green]pass[/]", "fail": "[red]fail[/]", "unknown": "[yellow]  ? [/]"}


@command()
def status() -> Answer:
    """Show the program's health and the open steps of its integration.

    SERVICE_API_KEY comes from the environment or .svc/.env. Exit code 0: the key works; 4: it does not.

    Example: svc status
    """
    found = read()
    recent = found["recent_events"]
    say(f"[bold]{plain(found['name'])}[/] (program {found['program_id']}), {plain(found['domain'])}")
    if "sandbox_of" in found:
        say(f"[yellow]Sandbox[/] of program {found['sandbox_of']}: nothing in it is paid")
    say(f"Key {plain(found['api_token_masked'])}, lead capture mode {plain(found['lead_auth_policy'])}")
    day = ", ".join(f"{recent[f'{kind}_24h']} {kind}" for kind in ("clicks", "leads", "sales"))
    organic = found.get("organic_sales_24h", 0)
    say(f"Last 24 hours: {day}, {found['refused_calls_24h']} rejected calls, {organic} organic sales")
    counts = ("active_partners", "pending_commissions", "provisional_leads")
    say(", ".join(f"{found[name]} {name.replace('_', ' ')}" for name in counts))
    done = {step["step"]: step["done"] for step in found["checklist"]}
    for name, is_done in done.items():
        say(f"  {'[green]done[/]' if is_done else '[yellow]open[/]'}  {name}")
    if done["tracker_installed"] and not done["live_click"] and "sandbox_of" not in found:
        say(HEADLESS)
    return Answer(found, f"Next: {plain(next_step(found))}")


def read() -> dict[str, Any]:
    """Return the data of GET /api/v1/cli/status. Raises Failure."""
    found: dict[str, Any] = project.service().call("GET", "/api/v1/cli/status")["data"]
    return found


def next_step(found: dict[str, Any]) -> str:
    """Return the next step as text."""
    steps = (step["next_action"] for step in found["checklist"] if not step["done"])
    return str(next(steps, "nothing, every step is done."))


@command()
def explain(
    transaction: Annotated[
        str, typer.Argument(metavar="TRANSACTION", help="The sale's transaction_id, or any id of Stripe's.")
    ],
    program: ProgramId = None,
) -> Answer:
    """Explain why a sale was credited or not, even if it was rejected or never arrived.

    Exit code 0: it is credited, whole or in part; 1: it is not.

    Example: svc explain inv-1042
    """
    service, program_id = chosen(program)
    found = service.call("GET", f"/api/programs/{program_id}/explain", transaction_id=transaction)
    say(f"[bold]{plain(found['verdict'])}[/]: {plain(found['message'])}")
    for step in found["trace"]:
        say(f"  {MARKS[step['state']]}  {step['step']:<10}  {plain(step['text'])}")
    for call in found["refused_calls"]:
        say(f"  rejected at {call['at']}: {plain(call['call'])} with {plain(call['code'])}")
    advice = found["smallest_change"] and f"Smallest change: {plain(found['smallest_change'])}"
    return Answer(found, advice or "", ok=found["verdict"].startswith("credited"))
