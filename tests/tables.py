"""Tables of cases and statements that lie beside the tests that read them."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any


def table(name: str) -> Any:
    """Return what a file of TOML or JSON says, by its path under tests/."""
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return tomllib.loads(text) if name.endswith(".toml") else json.loads(text)


def statements(name: str) -> list[tuple[str, str]]:
    """Return the statements of a file of SQL, each with the comment right before it, by its path under tests/."""
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return re.findall(r"^-- (.*)\n([A-Z][^;]*);$", text, re.MULTILINE)
