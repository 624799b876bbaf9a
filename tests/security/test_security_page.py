"""docs/security.md: every row names tests, and every test that it names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/security.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| (API|V)\d", line)]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_row_names_a_test():
    assert [row for row in ROWS if not NAMED.search(row)] == []


def test_the_whole_top_ten_is_answered():
    assert {row.split()[1] for row in ROWS if row.startswith("| API")} == {f"API{number}" for number in range(1, 11)}


def test_every_test_that_is_named_exists():
    missing = [
        f"{path}::{name}"
        for path, name in NAMED.findall(PAGE)
        if f"def {name}(" not in (ROOT / path).read_text(encoding="utf-8")
    ]

    assert missing == []
