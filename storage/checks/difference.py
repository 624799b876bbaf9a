"""A disagreement between what is stored and what the events say."""

from typing import NamedTuple


class BookDifference(NamedTuple):
    """One difference: `what` is stored `where`, and what it should be; amounts in cents."""

    what: str
    where: str
    stored: int
    recomputed: int

    def __str__(self) -> str:
        return f"{self.what} of {self.where}: stored {self.stored}, recomputed {self.recomputed}"
