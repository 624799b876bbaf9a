"""An authenticated request, by an agent key or a session; the same handlers serve both."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

from starlette.requests import Request

from presentation.view import viewed
from storage import Storage
from storage.access.workspaces import Role
from storage.engine.audit import Actor, By
from storage.engine.sealing import Sealer
from storage.lists.declaration import List, ListScope, Row
from storage.lists.find import get
from storage.rules.errors import NotFound, ServiceError
from storage.rules.scope import Scope
from web.response import CreatedResponse

P = ParamSpec("P")
Result = TypeVar("Result")
Read = Callable[Concatenate[Any, int, P], Result]
NO_PROGRAM = 0  # an id that no program has
_DIGITS = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, kw_only=True)
class ApiRequest:
    """A request that its caller may make. `program_id` is the path's, or NO_PROGRAM if the path names none.

    The caller reaches the workspaces of `workspace_ids`; of their programs those of `program_ids` (None: all).
    `named` are the fields of a form, among them ids that an endpoint has in its path.
    A key's `scopes` decide which fields it gets; a member (None) gets all.
    """

    request: Request
    storage: Storage
    at: datetime
    actor: Actor
    workspace_ids: Sequence[int] = ()
    program_ids: Sequence[int] | None = None
    program_id: int = NO_PROGRAM
    named: Mapping[str, str] = field(default_factory=dict)
    scopes: Collection[Scope] | None = None
    role: Role | None = None  # the member's in the program; None for a key

    @property
    def subject_id(self) -> int:
        """The id that operations take first: the program."""
        return self.program_id

    @property
    def by(self) -> By:
        """Who makes a change, and when."""
        return By(self.actor, self.at)

    @property
    def base_url(self) -> str:
        base_url: str = self.request.app.state.base_url
        return base_url

    @property
    def sealer(self) -> Sealer:
        """What encrypts and opens what is kept of calls."""
        sealer: Sealer = self.request.app.state.sealer()
        return sealer

    async def hit(self, kind: str) -> None:
        """Count one request of this kind by the caller. Raises RateLimited."""
        await self.request.app.state.limits.hit(kind, self.actor.id)

    def path_id(self, name: str) -> int:
        """Return an id from the path. Raises NotFound if it is not a valid id."""
        return valid_id(self.path_name(name))

    def path_name(self, name: str) -> str:
        """Return what the path, or else the form, has under a name."""
        named: str = self.request.path_params.get(name) or self.named.get(name, "")
        return named

    @property
    def scope(self) -> ListScope:
        """What the lists are of: the program, or the list of programs that the caller reaches."""
        return ListScope(self.program_id, self.at, None, self.workspace_ids, self.program_ids)

    async def get(self, wanted: List[Row], name: str) -> Row:
        """Return the row of a list whose id the path, or else the form, has under a name. Raises NotFound."""
        return await self.storage.read(get, wanted, self.scope, self.path_id(name))

    async def read(self, operation: Read[P, Result], *arguments: P.args, **options: P.kwargs) -> Result:
        return await self.storage.read(operation, self.subject_id, *arguments, **options)

    async def report(self, operation: Read[P, Result], *arguments: P.args, **options: P.kwargs) -> Result:
        """Run a read operation on the program whose result may lag: on the read replica, if there is one."""
        return await self.storage.report(operation, self.subject_id, *arguments, **options)

    async def write(self, operation: Callable[..., Result | ServiceError], *arguments: Any, **options: Any) -> Result:
        """Run a write operation on the program, in the caller's name; raises an error that it returns."""
        options["by"] = self.by
        return await self.storage.write_in(self.program_id, operation, self.subject_id, *arguments, **options)

    async def create(self, row: type[Result], operation: Callable[..., Any], **options: Any) -> CreatedResponse[Result]:
        """Create something by a write operation on the program; the response is its view."""
        return CreatedResponse(viewed(row).of(await self.write(operation, **options)))


def row_id(sent: str) -> int | None:
    """Return a text as an id, None if it is not a valid one."""
    return int(sent) if _DIGITS.fullmatch(sent) else None


def valid_id(sent: str) -> int:
    """Return a text as an id. Raises NotFound if it is not a valid one."""
    if (found := row_id(sent)) is None:
        raise NotFound
    return found
