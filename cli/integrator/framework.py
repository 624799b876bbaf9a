"""The frameworks of a project, found in its files: AGENTS.md leads with the snippets of the first."""

import re
from pathlib import Path

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


def find(project: Path) -> list[str]:
    """Return the frameworks that a project's files name, the one that matters most first."""
    return [name for name, (files, sign) in _SIGNS.items() if any(_has(project / file, sign) for file in files)]


def _has(path: Path, sign: str) -> bool:
    return path.is_file() and re.search(sign, path.read_text(encoding="utf-8", errors="replace")) is not None
