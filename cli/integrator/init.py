"""`svc init`: a project's `.svc` folder, from the program's configuration."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.integrator import guides, programs, project
from cli.integrator.login import obtain
from cli.integrator.output import Failure, Json, Output, answering, plain
from cli.integrator.service import ServiceClient

GUIDES = ("AGENTS.md", "skills.md")
Sandbox = Annotated[bool, typer.Option("--sandbox", help="Use the program's sandbox, and create it if necessary.")]
GenerateKey = Annotated[bool, typer.Option("--generate-key", help="Generate a new program key; the old one stops.")]
ApiKeyStdin = Annotated[bool, typer.Option("--api-key-stdin", help="Read your program key from standard input.")]
Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Add the line to the project's AGENTS.md or CLAUDE.md without asking.")
]


def init(
    program: Annotated[int | None, typer.Option(help="The program; `svc init` asks if you have several.")] = None,
    sandbox: Sandbox = False,
    generate_key: GenerateKey = False,
    api_key_stdin: ApiKeyStdin = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Write .svc/ for this project: AGENTS.md and skills.md for coding agents, .env with the key, .env.example.

    Run again, it changes only what changed; edits outside its marked section stay. If the project has an AGENTS.md or
    CLAUDE.md of its own, it adds one line to it after asking, or with --yes; never without either.

    With --sandbox the project uses the program's sandbox: the same snippets, nothing live. The live key stays in
    .svc/.env under another name, and `svc init --program ID` switches back to it.

    Example:
      svc init --program 1
      svc init --sandbox

    """
    with answering(as_json=as_json) as output:
        if generate_key and api_key_stdin:
            raise Failure("usage", "Use only one of --generate-key and --api-key-stdin.", exit_code=2)
        place, service = project.folder(), _account(output)
        chosen = programs.choose(service, output, program or int(project.settings()[project.PROGRAM] or 0) or None)
        if sandbox:
            chosen = open_sandbox(service, chosen, output)
        key = chosen.pop("api_token", None) or _key(
            service, chosen, output, generate=generate_key, from_stdin=api_key_stdin
        )
        if sandbox and not key:
            hint = "Use --generate-key: the sandbox's present key then stops, and nothing live changes."
            raise Failure("sandbox_key_required", "The sandbox has a key that this project does not know.", hint)
        changed = [*_write(place, service, chosen, key), *guides.add_line(place.parent, output, yes=yes)]
        _say(output, chosen, changed, has_key=bool(key))
        done = {"folder": str(place), "changed": changed, "has_key": bool(key)}
        output.result({"program_id": chosen["id"], "sandbox_of": chosen["sandbox_of"]} | done)


def _say(output: Output, program: dict[str, Any], changed: list[str], *, has_key: bool) -> None:
    for name in changed:
        output.say(f"  wrote {plain(name)}")
    if not changed:
        output.say("  no changes")
    if program["sandbox_of"] is not None:
        output.say(f"This project uses the sandbox of program {program['sandbox_of']}: nothing that it sends is live.")
    output.say("Next: `svc test click`, then `svc status`." if has_key else "Next: `svc init --generate-key`.")


def open_sandbox(service: ServiceClient, program: dict[str, Any], output: Output) -> dict[str, Any]:
    """Return a program's sandbox; a new one comes with its key as `api_token`."""
    if program["sandbox_of"] is not None:
        return program
    for each in programs.every(service):
        if each["sandbox_of"] == program["id"]:
            return each
    made = service.call("POST", f"/api/programs/{program['id']}/sandbox")["data"]
    output.say(f"Created the sandbox, program [bold]{made['program_id']}[/].")
    opened = service.call("GET", f"/api/programs/{made['program_id']}")
    return opened | {"api_token": made["api_token"]}


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
    for used in (stored, project.set_aside()):
        if used[project.KEY] and used[project.PROGRAM] in {"", str(program["id"])} and not generate:
            return used[project.KEY]
    if not generate and output.is_interactive:
        warning = f"A new key replaces the current one ({program['api_token_masked']}), which stops working at once."
        generate = typer.confirm(f"{warning} Generate it?", default=False)
    if not generate:
        return ""
    made = service.call("POST", f"/api/programs/{program['id']}/regenerate-api-token")
    return str(made["data"]["api_token"])


def _write(place: Path, service: ServiceClient, program: dict[str, Any], key: str) -> list[str]:
    """Write the files and return the names of those that changed; `.env` first, so that the new key is never lost."""
    found = guides.frameworks(place.parent)
    exposed = [name for each, name in guides.EXPOSED.items() if each in found]
    path = f"/api/programs/{program['id']}/integration"
    integration = service.call("GET", path, framework=next(iter(found), None))
    values = {project.KEY: key, project.PROGRAM: str(program["id"]), project.BASE: service.base_url}
    before = project.settings()
    if before[project.KEY] and before[project.PROGRAM] not in {"", values[project.PROGRAM]}:
        values |= {aside: before[name] for name, aside in project.ASIDE.items()}
    values[project.PAYMENTS] = integration["payment_account"] or ""
    values |= dict.fromkeys(exposed, service.base_url)
    done = {f"{project.FOLDER}/.env": project.save_settings(place, values)}
    done[".gitignore"] = guides.ignore(place)
    done[f"{project.FOLDER}/.env.example"] = guides.save_example(place, exposed)
    for name in GUIDES:
        done[f"{project.FOLDER}/{name}"] = guides.save_guide(place / name, integration["agents_md"])
    return [name for name, changed in done.items() if changed]
