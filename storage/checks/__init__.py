"""Consistency checks of `svc admin db check`: what is stored, compared with what the events say."""

from collections.abc import Iterator
from typing import NamedTuple


class BookDifference(NamedTuple):
    """One difference: `what` is stored `where`, and what it should be; amounts in cents."""

    what: str
    where: str
    stored: int
    recomputed: int

    def __str__(self) -> str:
        return f"{self.what} of {self.where}: stored {self.stored}, recomputed {self.recomputed}"


def compare(where: str, *facts: tuple[str, int, int]) -> Iterator[BookDifference]:
    """Yield the facts of a row or account (what, stored, recomputed) whose numbers differ."""
    for what, stored, recomputed in facts:
        if stored != recomputed:
            yield BookDifference(what, where, int(stored), int(recomputed))
