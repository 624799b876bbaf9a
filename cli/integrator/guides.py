"""The files that `svc init` writes for coding agents, and the frameworks and guides that it finds in a project."""

import re
from collections.abc import Callable
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


def save(path: Path, change: Callable[[str], str]) -> bool:
    """Write what becomes of a file's text, which is empty if there is no file; return whether it changed."""
    before = path.read_text(encoding="utf-8") if path.exists() else None
    after = change(before or "")
    if after != before:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(after, encoding="utf-8")
    return after != before


def example(exposed: list[str]) -> str:
    """Return `.env.example`: the names without the values, those for the browser last."""
    explained = EXPLAINED | dict.fromkeys(exposed, "the same, as the framework gives it to the browser")
    return "".join(f"# {text}\n{name}=\n" for name, text in explained.items())


def with_guide(markdown: str, before: str) -> str:
    """Return a text with the guide between its markers, and the text around them as it was."""
    section = f"{BEGIN}\n{markdown.strip()}\n{END}\n"
    head, begin, rest = before.partition(BEGIN)
    _, end, tail = rest.partition(f"{END}\n")
    return head + section + tail if begin and end else f"{before.rstrip()}\n\n{section}".lstrip()


def ignoring(before: str) -> str:
    """Return a `.gitignore` that names `.svc/.env`."""
    line = f"{FOLDER}/.env"
    ignored = {each.strip().removeprefix("/").rstrip("/") for each in before.splitlines()}
    return before if {line, FOLDER} & ignored else f"{before.rstrip()}\n{line}\n".lstrip("\n")


def add_line(root: Path, *, yes: bool) -> list[str]:
    """Add the line to each of the project's own guides that has none, after asking; return the names of those changed.

    Without a terminal there is no one to ask: `--yes` adds the line, otherwise it is only proposed.
    """
    added = []
    for path in (root / name for name in NAMES if (root / name).is_file()):
        if LINK in path.read_text(encoding="utf-8"):
            continue
        question = f"Add one line about {LINK} to {path.name}?"
        if yes or (is_interactive() and typer.confirm(question, default=True)):
            save(path, lambda before: f"{before.rstrip()}\n\n{LINE}\n".lstrip())
            added.append(path.name)
        else:
            say(f"  {path.name} does not mention {LINK}; `svc init --yes` adds one line")
    return added
