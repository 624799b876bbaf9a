"""`svc init`: a project's `.svc` folder, from the program's configuration."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.integrator import framework, own_guides, programs, project
from cli.integrator.login import obtain
from cli.integrator.output import Failure, Json, Output, answering, plain
from cli.integrator.service import ServiceClient

GUIDES = ("AGENTS.md", "skills.md")


def init(
    program: Annotated[int | None, typer.Option(help="The program; `svc init` asks if you have several.")] = None,
    generate_key: Annotated[
        bool, typer.Option("--generate-key", help="Generate a new program key; the old one stops at once.")
    ] = False,
    api_key_stdin: Annotated[
        bool, typer.Option("--api-key-stdin", help="Read your program key from standard input.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Add the line to the project's AGENTS.md or CLAUDE.md without asking.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write .svc/ for this project: AGENTS.md and skills.md for coding agents, .env with the key, .env.example.

    Run again, it changes only what changed; edits outside its marked section stay. If the project has an AGENTS.md or
    CLAUDE.md of its own, it adds one line to it after asking, or with --yes; never without either.

    Example:
      svc init --program 1

    """
    with answering(as_json=as_json) as output:
        if generate_key and api_key_stdin:
            raise Failure("usage", "Use only one of --generate-key and --api-key-stdin.", exit_code=2)
        place, service = project.folder(), _account(output)
        chosen = choose(service, output, program or int(project.settings()[project.PROGRAM] or 0) or None)
        key = _key(service, chosen, output, generate=generate_key, from_stdin=api_key_stdin)
        changed = [*_write(place, service, chosen, key), *own_guides.add_line(place.parent, output, yes=yes)]
        for name in changed:
            output.say(f"  wrote {plain(name)}")
        if not changed:
            output.say("  no changes")
        output.say("Next: `svc test click`, then `svc status`." if key else "Next: `svc init --generate-key`.")
        output.result({"program_id": chosen["id"], "folder": str(place), "changed": changed, "has_key": bool(key)})


def choose(service: ServiceClient, output: Output, program_id: int | None = None) -> dict[str, Any]:
    """Return the program: the named one, the only one, or the one that the user chooses."""
    found = programs.every(service)
    named = [each for each in found if program_id in {None, each["id"]}]
    if len(named) == 1:
        return named[0]
    listed = ", ".join(f"{each['id']} ({each['name']})" for each in found) or "none"
    if program_id is not None or not found:
        hint = f"Yours: {listed}. Create one with `svc programs create`."
        raise Failure("program_not_found", "Your account has no such program.", hint)
    if not output.is_interactive:
        raise Failure(
            "program_required", "You have several programs.", f"Choose one with --program ID. Yours: {listed}."
        )
    output.say(f"Your programs: {plain(listed)}")
    return choose(service, output, typer.prompt("Program id", type=int))


def meant(program: int | None, output: Output) -> tuple[ServiceClient, int]:
    """Return the service as the logged-in account, and the program: named, the project's, or chosen."""
    service, asked = programs.account(), program or int(project.settings()[project.PROGRAM] or 0)
    return service, asked or choose(service, output)["id"]


def _account(output: Output) -> ServiceClient:
    """Return the service as the account calls it; on a terminal, log in first if necessary."""
    try:
        return programs.account()
    except Failure:
        if not output.is_interactive:
            raise
    kept = obtain(project.base_url(), output)
    return ServiceClient(kept.base_url, kept.token)


def _key(service: ServiceClient, program: dict[str, Any], output: Output, *, generate: bool, from_stdin: bool) -> str:
    """Return the key for `.env`, empty if there is none: given, already stored, or generated after confirmation."""
    if from_stdin:
        key = sys.stdin.readline().strip()
        response = ServiceClient(service.base_url, key).call("GET", "/api/v1/cli/status")["data"]
        if response["program_id"] != program["id"]:
            raise Failure(
                "wrong_program_key", f"This is the key of program {response['program_id']}.", "Check --program."
            )
        return key
    stored = project.settings()
    if stored[project.KEY] and stored[project.PROGRAM] in {"", str(program["id"])} and not generate:
        return stored[project.KEY]
    if not generate and output.is_interactive:
        warning = f"A new key replaces the current one ({program['api_token_masked']}), which stops working at once."
        generate = typer.confirm(f"{warning} Generate it?", default=False)
    if not generate:
        return ""
    made = service.call("POST", f"/api/programs/{program['id']}/regenerate-api-token")
    return str(made["data"]["api_token"])


def _write(place: Path, service: ServiceClient, program: dict[str, Any], key: str) -> list[str]:
    """Write the files and return the names of those that changed; `.env` first, so that the new key is never lost."""
    found = framework.find(place.parent)
    exposed = [name for each, name in framework.EXPOSED.items() if each in found]
    path = f"/api/programs/{program['id']}/integration"
    integration = service.call("GET", path, framework=next(iter(found), None))
    values = {project.KEY: key, project.PROGRAM: str(program["id"]), project.BASE: service.base_url}
    values[project.PAYMENTS] = integration["payment_account"] or ""
    values |= dict.fromkeys(exposed, service.base_url)
    done = {f"{project.FOLDER}/.env": project.save_settings(place, values)}
    done[".gitignore"] = project.ignore(place)
    done[f"{project.FOLDER}/.env.example"] = project.save_example(place, exposed)
    for name in GUIDES:
        done[f"{project.FOLDER}/{name}"] = project.save_guide(place / name, integration["agents_md"])
    return [name for name, changed in done.items() if changed]
