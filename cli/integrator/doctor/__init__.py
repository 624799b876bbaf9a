"""`svc doctor`: what is wrong with a shop's integration, as its pages and the service show it, each with its fix."""

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
