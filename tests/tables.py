"""Tables of cases that lie beside the tests that read them."""

import tomllib
from pathlib import Path
from typing import Any


def table(name: str) -> dict[str, Any]:
    """Return a table of TOML by its path under tests/."""
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
