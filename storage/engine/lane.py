"""What the queues run over: one connection that runs functions in transactions, one after the other."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from sqlalchemy import Connection

Result = TypeVar("Result")
Work = Callable[[Connection], Result]


class Lane(Protocol):
    """One connection at a time: runs a function over it, in one transaction, off the event loop's back."""

    async def run(self, work: Work[Result]) -> Result:
        """Run `work` in a transaction; commit when it returns (writers), roll back when it raises.

        Raises StorageUnavailable in an outage; nothing of the transaction is stored then.
        """

    async def close(self) -> None:
        """Give the connection back."""


class WriteLane(Lane, Protocol):
    """A lane whose transactions can be found again when the answer to COMMIT was lost."""

    async def write(self, work: Work[Result]) -> Result:
        """Run `work` as `run` does. Raises OutcomeUnknown if the database does not say whether it committed."""
