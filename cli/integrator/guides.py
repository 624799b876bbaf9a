"""The files that `svc init` writes for coding agents, and the frameworks and guides that it finds in a project."""

import re
from pathlib import Path

import typer

from cli.integrator.output import is_interactive, say
from cli.integrator.project import EXPLAINED, FOLDER

BEGIN, END = "<!-- svc:begin, written by `svc init`: edits between these two lines are lost -->", "<!-- svc:end -->"
NAMES = ("AGENTS.md", "CLAUDE.md")
LINK = ".svc/AGENTS.md"
LINE = f"Affiliate tracking of this shop: read [{LINK}]({LINK}) before you change sign-up, checkout or page heads."
EXPOSED = {"nextjs": "NEXT_PUBLIC_", "vite": "VITE_"}  # what bundlers put before names for the browser
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
    explained = EXPLAINED | dict.fromkeys(exposed, "the same, as the framework gives it to the browser")
    return _save(place / ".env.example", "".join(f"# {text}\n{name}=\n" for name, text in explained.items()))


def save_guide(path: Path, markdown: str) -> bool:
    """Write the guide between its markers and keep the text around them; return whether the file changed."""
    section, before = f"{BEGIN}\n{markdown.strip()}\n{END}\n", _text(path)
    head, begin, rest = before.partition(BEGIN)
    _, end, tail = rest.partition(f"{END}\n")
    added = f"{before.rstrip()}\n\n{section}".lstrip()
    return _save(path, head + section + tail if begin and end else added)


def deny(place: Path) -> bool:
    """Write `.htaccess`, with which Apache publishes nothing of the folder; return whether it changed."""
    return _save(place / ".htaccess", "Require all denied\n")


def ignore(place: Path) -> bool:
    """Add `.svc/.env` to the project's `.gitignore`, once; return whether it was added."""
    path, line = place.parent / ".gitignore", f"{FOLDER}/.env"
    ignored = {each.strip().removeprefix("/").rstrip("/") for each in _text(path).splitlines()}
    return not {line, FOLDER} & ignored and _save(path, f"{_text(path).rstrip()}\n{line}\n".lstrip("\n"))


def add_line(root: Path, *, yes: bool) -> list[str]:
    """Add the line to each of the project's own guides that has none, after asking; return the names of those changed.

    Without a terminal there is no one to ask: `--yes` adds the line, otherwise it is only proposed.
    """
    added = []
    for path in (root / name for name in NAMES if (root / name).is_file()):
        if LINK in _text(path):
            continue
        question = f"Add one line about {LINK} to {path.name}?"
        if yes or (is_interactive() and typer.confirm(question, default=True)):
            _save(path, f"{_text(path).rstrip()}\n\n{LINE}\n".lstrip())
            added.append(path.name)
        else:
            say(f"  {path.name} does not mention {LINK}; `svc init --yes` adds one line")
    return added


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _save(path: Path, text: str) -> bool:
    changed = not path.exists() or _text(path) != text
    if changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return changed
