"""A project's `.svc` folder: the key and program in `.env`, and the files for coding agents."""

import os
import re
import shlex
from pathlib import Path

from cli.integrator import private_file
from cli.integrator.output import NOT_SET_UP, Failure

FOLDER = ".svc"
BEGIN, END = "<!-- svc:begin, written by `svc init`: edits between these two lines are lost -->", "<!-- svc:end -->"
KEY, PROGRAM, BASE, PAYMENTS = "SERVICE_API_KEY", "SERVICE_PROGRAM_ID", "SERVICE_BASE_URL", "SERVICE_PAYMENT_ACCOUNT"
EXPLAINED = {
    KEY: "the program key; an owner generates one with `svc init --generate-key`",
    PROGRAM: "the program's number",
    BASE: "the URL of the service",
    PAYMENTS: "the connected payment account's id, if there is one",
}
LOCAL = "http://127.0.0.1:8000"
ASIDE = {KEY: "SERVICE_OTHER_API_KEY", PROGRAM: "SERVICE_OTHER_PROGRAM_ID"}  # the program that was used before
_LINE = re.compile(r"^(?:export )?([A-Z_]+)=(.*)$")


def folder() -> Path:
    """Return the project's `.svc` folder: in this folder or above, as git does; else in this folder."""
    here = Path.cwd()
    found = (each / FOLDER for each in (here, *here.parents) if (each / FOLDER).is_dir())
    return next(found, here / FOLDER)


def settings() -> dict[str, str]:
    """Return the settings of this project: the environment takes precedence over `.svc/.env`."""
    stored = _read(folder() / ".env")
    return {name: os.environ.get(name) or stored.get(name, "") for name in EXPLAINED}


def set_aside() -> dict[str, str]:
    """Return the key and the id of the program that this project used before, as settings."""
    stored = _read(folder() / ".env")
    return {name: stored.get(aside, "") for name, aside in ASIDE.items()}


def base_url(given: str | None = None) -> str:
    """Return the service's URL: given, the project's, or the default of `make serve`."""
    return given or settings()[BASE] or LOCAL


def key() -> str:
    """Return the program key. Raises Failure if there is none."""
    found = settings()[KEY]
    if not found:
        raise Failure(
            "no_program_key",
            f"There is no program key: {KEY} is neither in the environment nor in {FOLDER}/.env.",
            "Run `svc init` in your project.",
            exit_code=NOT_SET_UP,
        )
    return found


def save_settings(place: Path, values: dict[str, str]) -> bool:
    """Write settings into `.env` and keep its other lines; return whether it changed."""
    path = place / ".env"
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    lines, left = [], {name: _quoted(value) for name, value in values.items() if value}
    for line in before.splitlines():
        found = _LINE.match(line)
        lines.append(f"{found[1]}={left.pop(found[1])}" if found and found[1] in left else line)
    after = "\n".join([*lines, *(f"{name}={value}" for name, value in left.items())]) + "\n"
    changed = after != before
    if changed or path.stat().st_mode & 0o077:
        private_file.write(path, after)
    return changed


def save_example(place: Path, exposed: list[str]) -> bool:
    """Write `.env.example`: the names without the values, those for the browser last; return whether it changed."""
    explained = EXPLAINED | dict.fromkeys(exposed, "the URL of the service, as the framework gives it to the browser")
    return _save(place / ".env.example", "".join(f"# {text}\n{name}=\n" for name, text in explained.items()))


def save_guide(path: Path, markdown: str) -> bool:
    """Write the guide between its markers and keep the text around them; return whether the file changed."""
    section = f"{BEGIN}\n{markdown.strip()}\n{END}\n"
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    head, begin, rest = before.partition(BEGIN)
    _, end, tail = rest.partition(f"{END}\n")
    added = f"{before.rstrip()}\n\n{section}".lstrip()
    return _save(path, head + section + tail if begin and end else added)


def ignore(place: Path) -> bool:
    """Add `.svc/.env` to the project's `.gitignore`, once; return whether it was added."""
    path, line = place.parent / ".gitignore", f"{FOLDER}/.env"
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if {line, f"/{line}", FOLDER, f"{FOLDER}/", f"/{FOLDER}/"} & {each.strip() for each in before.splitlines()}:
        return False
    return _save(path, f"{before.rstrip()}\n{line}\n".lstrip("\n"))


def _quoted(value: str) -> str:
    """Return a value as one line that a shell and a dotenv reader take literally."""
    return shlex.quote("".join(character for character in value if character.isprintable() and character != "'"))


def _read(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    found = map(_LINE.match, path.read_text(encoding="utf-8").splitlines())
    return {line[1]: line[2].strip().strip("\"'") for line in found if line}


def _save(path: Path, text: str) -> bool:
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True
