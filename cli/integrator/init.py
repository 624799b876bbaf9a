"""`svc init`: a project's `.svc` folder from the program's configuration, and a line in the project's own guides."""

import re
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.integrator import accounts, project
from cli.integrator.output import Answer, Failure, Flag, command, is_interactive, plain, say

BEGIN = "<!-- svc:begin, written by `svc init`: edits between these two lines are lost -->"
END = "<!-- svc:end -->"
LINK = ".svc/AGENTS.md"
LINE = f"Affiliate tracking of this shop: read [{LINK}]({LINK}) before you change sign-up, checkout or page heads."
FRAMEWORKS = tomllib.loads(Path(__file__).with_name("frameworks.toml").read_text(encoding="utf-8"))


@command()
def init(
    program: Annotated[int | None, typer.Option(help="The program; `svc init` asks if you have several.")] = None,
    sandbox: Flag = False,
    generate_key: Flag = False,
    api_key_stdin: Flag = False,
    above: Flag = False,
    yes: Annotated[bool, typer.Option("--yes", "-y")] = False,
) -> Answer:
    """Write .svc/ for this project: AGENTS.md and skills.md for coding agents, .env with the key, .env.example."""
    if generate_key and api_key_stdin:
        raise Failure("usage", "Use only one of --generate-key and --api-key-stdin.", exit_code=2)
    place, service = project.folder(above=above), accounts.service()
    chosen = accounts.choose(service, program or project.program_id())
    if sandbox:
        chosen = _open_sandbox(service, chosen)
    new_key = chosen.pop("api_token", "")
    key = new_key or _key(service, chosen, is_given=api_key_stdin, generate=generate_key)
    if sandbox and not key:
        hint = "Use --generate-key: the sandbox's present key then stops, and nothing live changes."
        raise Failure("sandbox_key_required", "The sandbox has a key that this project does not know.", hint)
    changed = [*_write(place, service, chosen, key), *_add_line(place.parent, yes=yes)]
    say("\n".join(f"  wrote {plain(name)}" for name in changed) or "  no changes")
    if chosen["sandbox_of"] is not None:
        say(f"This project uses the sandbox of program {chosen['sandbox_of']}: nothing that it sends is live.")
    result = {"program_id": chosen["id"], "sandbox_of": chosen["sandbox_of"], "folder": str(place), "changed": changed}
    text = "Next: `svc test click`, then `svc status`." if key else "Next: `svc init --generate-key`."
    return Answer(result | {"has_key": bool(key)}, text)


def _open_sandbox(service: project.ServiceClient, program: dict[str, Any]) -> dict[str, Any]:
    """Return a program's sandbox; a new one comes with its key as `api_token`."""
    if sandbox := accounts.sandbox_of(service, program["id"]):
        return sandbox
    made = service.call("POST", f"/api/programs/{program['id']}/sandbox")["data"]
    say(f"Created the sandbox, program [bold]{made['program_id']}[/].")
    return service.call("GET", f"/api/programs/{made['program_id']}") | {"api_token": made["api_token"]}


def _key(service: project.ServiceClient, program: dict[str, Any], *, is_given: bool, generate: bool) -> str:
    """Return the key for `.env`: on standard input, already stored, or generated after confirmation; else empty."""
    if is_given:
        given = sys.stdin.readline().strip()
        found = project.ServiceClient(service.base_url, given).call("GET", "/api/v1/cli/status")["data"]["program_id"]
        if found != program["id"]:
            raise Failure("wrong_program_key", f"This is the key of program {found}.", "Check --program.")
        return given
    stored = project.settings()
    for key, owner in ((project.KEY, project.PROGRAM), project.ASIDE.values()):
        if stored[key] and stored[owner] in {"", str(program["id"])} and not generate:
            return stored[key]
    if not generate and is_interactive():
        warning = f"A new key replaces the current one ({program['api_token_masked']}), which stops working at once."
        generate = typer.confirm(f"{warning} Generate it?", default=False)
    path = f"/api/programs/{program['id']}/regenerate-api-token"
    return str(service.call("POST", path)["data"]["api_token"]) if generate else ""


def _write(place: Path, service: project.ServiceClient, program: dict[str, Any], key: str) -> list[str]:
    """Write the files and return the names of those that changed; `.env` first, so that the new key is never lost."""
    found = frameworks(place.parent) or frameworks(Path.cwd())
    path = f"/api/programs/{program['id']}/integration"
    integration = service.call("GET", path, framework=next(iter(found), None))
    values = {project.KEY: key, project.PROGRAM: str(program["id"]), project.BASE: service.base_url}
    prefixes = [each["exposed"] for name, each in FRAMEWORKS.items() if name in found and "exposed" in each]
    exposed = {f"{prefix}{name}": values[name] for prefix in prefixes for name in (project.BASE, project.PROGRAM)}
    before = project.settings()
    if before[project.KEY] and before[project.PROGRAM] not in {"", values[project.PROGRAM]}:
        values |= {aside: before[name] for name, aside in project.ASIDE.items()}
    values[project.PAYMENTS] = integration["payment_account"] or ""
    done = {}
    if "php" in found:
        done[f"{project.FOLDER}/.htaccess"] = _save(place / ".htaccess", lambda _: "Require all denied\n")
        say(FRAMEWORKS["php"]["warning"])
    done[f"{project.FOLDER}/.env"] = project.save_settings(place, values | exposed)
    done[".gitignore"] = _save(place.parent / ".gitignore", _ignoring)
    explained = project.EXPLAINED | dict.fromkeys(exposed, "the same, as the framework gives it to the browser")
    example = "".join(f"# {text}\n{name}=\n" for name, text in explained.items())  # without the values
    done[f"{project.FOLDER}/.env.example"] = _save(place / ".env.example", lambda _: example)
    for name in ("AGENTS.md", "skills.md"):
        done[f"{project.FOLDER}/{name}"] = _save(place / name, partial(_with_guide, integration["agents_md"]))
    return [name for name, changed in done.items() if changed]


def frameworks(root: Path) -> list[str]:
    """Return the frameworks that a project's files name, the one that matters most first."""
    found = {}
    for name, each in FRAMEWORKS.items():
        paths = (root / file for file in each["files"] if (root / file).is_file())
        found[name] = any(re.search(each["sign"], path.read_text(encoding="utf-8", errors="replace")) for path in paths)
    return [name for name, is_named in found.items() if is_named]


def _save(path: Path, change: Callable[[str], str]) -> bool:
    """Write what becomes of a file's text, which is empty if there is no file; return whether it changed."""
    before = path.read_text(encoding="utf-8") if path.exists() else None
    after = change(before or "")
    if after != before:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(after, encoding="utf-8")
    return after != before


def _with_guide(markdown: str, before: str) -> str:
    """Return a text with the guide between its markers, and the text around them as it was."""
    section = f"{BEGIN}\n{markdown.strip()}\n{END}\n"
    head, begin, rest = before.partition(BEGIN)
    _, end, tail = rest.partition(f"{END}\n")
    return head + section + tail if begin and end else f"{before.rstrip()}\n\n{section}".lstrip()


def _ignoring(before: str) -> str:
    line = f"{project.FOLDER}/.env"
    ignored = {each.strip().removeprefix("/").rstrip("/") for each in before.splitlines()}
    return before if {line, project.FOLDER} & ignored else f"{before.rstrip()}\n{line}\n".lstrip("\n")


def _add_line(root: Path, *, yes: bool) -> list[str]:
    """Add the line to the project's own guides that have none, after asking or with `--yes`; return their names."""
    added = []
    for path in (root / name for name in ("AGENTS.md", "CLAUDE.md") if (root / name).is_file()):
        if LINK in path.read_text(encoding="utf-8"):
            continue
        question = f"Add one line about {LINK} to {path.name}?"
        if yes or (is_interactive() and typer.confirm(question, default=True)):
            _save(path, lambda before: f"{before.rstrip()}\n\n{LINE}\n".lstrip())
            added.append(path.name)
        else:
            say(f"  {path.name} does not mention {LINK}; `svc init --yes` adds one line")
    return added
