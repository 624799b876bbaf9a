"""What a check found: a problem, or a notice that does not fail CI."""

from typing import NamedTuple


class ShopFinding(NamedTuple):
    """One finding: a code for scripts, what is wrong, and what to do."""

    code: str
    message: str
    fix: str
    is_problem: bool = True


def notice(code: str, message: str, fix: str) -> ShopFinding:
    """Return a finding that does not fail CI."""
    return ShopFinding(code, message, fix, is_problem=False)
