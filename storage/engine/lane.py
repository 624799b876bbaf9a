"""The interface of a lane: one connection that runs functions in transactions, one after the other."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from sqlalchemy import Connection

Result = TypeVar("Result")
Work = Callable[[Connection], Result]


class Lane(Protocol):
    """Runs functions over one connection, each in a transaction, without blocking the event loop."""

    async def run(self, work: Work[Result]) -> Result:
        """Run `work` in a transaction; commit when it returns (writers), roll back when it raises.

        Raises StorageUnavailable in an outage; nothing of the transaction is stored then.
        """

    async def close(self) -> None:
        """Give the connection back."""


class WriteLane(Lane, Protocol):
    """A lane that can look up whether a transaction committed if the response to COMMIT was lost."""

    async def is_distributed(self) -> bool:
        """Return whether each program's rows lie on one node; False also while the database does not respond."""

    async def write(self, work: Work[Result], program_id: int = 0) -> Result:
        """Run `work`, the writes of one program or (0) of any, as `run` does.

        Raises OutcomeUnknown if the database does not say whether it committed.
        """
