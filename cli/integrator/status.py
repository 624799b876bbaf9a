"""`svc status`: the health of the program and its integration."""

from typing import Any

from cli.integrator import project
from cli.integrator.output import Json, Output, answering, plain
from cli.integrator.service import ServiceClient

HEADLESS = "No click has counted yet: those of headless browsers and bots count only in a sandbox (svc init --sandbox)."


def status(as_json: Json = False) -> None:
    """Show the program's health and the open steps of its integration.

    SERVICE_API_KEY comes from the environment or .svc/.env. Exit code 0: the key works; 4: it does not.

    Example:
      svc status

    """
    with answering(as_json=as_json) as output:
        found = read()
        _say(output, found)
        output.result(found)


def read() -> dict[str, Any]:
    """Return the data of GET /api/v1/cli/status. Raises Failure."""
    found: dict[str, Any] = ServiceClient(project.base_url(), project.key()).call("GET", "/api/v1/cli/status")["data"]
    return found


def next_step(found: dict[str, Any]) -> str:
    """Return the next step as text."""
    steps = (step["next_action"] for step in found["checklist"] if not step["done"])
    return str(next(steps, "nothing, every step is done."))


def _say(output: Output, found: dict[str, Any]) -> None:
    recent = found["recent_events"]
    output.say(f"[bold]{plain(found['name'])}[/] (program {found['program_id']}), {plain(found['domain'])}")
    if "sandbox_of" in found:
        output.say(f"[yellow]Sandbox[/] of program {found['sandbox_of']}: nothing in it is paid")
    output.say(f"Key {plain(found['api_token_masked'])}, lead capture mode {plain(found['lead_auth_policy'])}")
    day = ", ".join(f"{recent[f'{kind}_24h']} {kind}" for kind in ("clicks", "leads", "sales"))
    output.say(f"Last 24 hours: {day}, {found['refused_calls_24h']} rejected calls")
    counts = ("active_partners", "pending_commissions", "provisional_leads")
    output.say(", ".join(f"{found[name]} {name.replace('_', ' ')}" for name in counts))
    for step in found["checklist"]:
        mark = "[green]done[/]" if step["done"] else "[yellow]open[/]"
        output.say(f"  {mark}  {step['step']}")
    done = {step["step"]: step["done"] for step in found["checklist"]}
    if done["tracker_installed"] and not done["live_click"] and "sandbox_of" not in found:
        output.say(HEADLESS)
    output.say(f"Next: {plain(next_step(found))}")
