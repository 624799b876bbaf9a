"""The files that `svc init` writes for coding agents, and the frameworks and guides that it finds in a project."""

import re
from pathlib import Path

import typer

from cli.integrator.output import Output
from cli.integrator.project import EXPLAINED, FOLDER

BEGIN, END = "<!-- svc:begin, written by `svc init`: edits between these two lines are lost -->", "<!-- svc:end -->"
NAMES = ("AGENTS.md", "CLAUDE.md")
LINK = ".svc/AGENTS.md"
LINE = f"Affiliate tracking of this shop: read [{LINK}]({LINK}) before you change sign-up, checkout or page heads."
EXPOSED = {"nextjs": "NEXT_PUBLIC_SERVICE_BASE_URL", "vite": "VITE_SERVICE_BASE_URL"}
_PYTHON = ("manage.py", "pyproject.toml", "requirements.txt")
_SIGNS = {  # Rails and Laravel bring Vite along, so the server's framework comes first
    "rails": (("Gemfile",), r"gem ['\"]rails['\"]"),
    "laravel": (("composer.json",), '"laravel/framework"'),
    "django": (_PYTHON, r"(?i)(?<![\w-])django(?![\w-])"),
    "flask": (_PYTHON, r"(?i)(?<![\w-])flask(?![\w-])"),
    "fastapi": (_PYTHON, r"(?i)(?<![\w-])fastapi(?![\w-])"),
    "nextjs": (("package.json",), r'"next"\s*:'),
    "vite": (("package.json",), r'"vite"\s*:'),
    "react": (("package.json",), r'"react"\s*:'),
    "express": (("package.json",), r'"express"\s*:'),
    "php": (("composer.json", "index.php"), ""),
}


def frameworks(root: Path) -> list[str]:
    """Return the frameworks that a project's files name, the one that matters most first."""
    return [name for name, (files, sign) in _SIGNS.items() if any(_has(root / file, sign) for file in files)]


def _has(path: Path, sign: str) -> bool:
    return path.is_file() and re.search(sign, path.read_text(encoding="utf-8", errors="replace")) is not None


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


def add_line(root: Path, output: Output, *, yes: bool) -> list[str]:
    """Add the line to each of the project's own guides that has none, after asking; return the names of those changed.

    Without a terminal there is no one to ask: `--yes` adds the line, otherwise it is only proposed.
    """
    missing = [name for name in NAMES if _lacks(root / name)]
    added = [name for name in missing if yes or _agreed(name, output)]
    for name in added:
        path = root / name
        path.write_text(f"{path.read_text(encoding='utf-8').rstrip()}\n\n{LINE}\n".lstrip(), encoding="utf-8")
    for name in set(missing) - set(added):
        output.say(f"  {name} does not mention {LINK}; `svc init --yes` adds one line")
    return added


def _lacks(path: Path) -> bool:
    return path.is_file() and LINK not in path.read_text(encoding="utf-8", errors="replace")


def _agreed(name: str, output: Output) -> bool:
    return output.is_interactive and typer.confirm(f"Add one line about {LINK} to {name}?", default=True)


def _save(path: Path, text: str) -> bool:
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True
