"""The guides for integrators: Markdown beside this file, served under /docs and read by assistants alike."""

from functools import cache
from pathlib import Path

from storage.rules.errors import NotFound

_FOLDER = Path(__file__).parent
NAMES = tuple(sorted(page.stem for page in _FOLDER.glob("*.md")))


@cache
def text(name: str) -> str:
    """Return a guide's Markdown. Raises NotFound for a name that is not in NAMES."""
    if name not in NAMES:
        raise NotFound(f"There is no guide of this name; there are: {', '.join(NAMES)}.")
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8")
