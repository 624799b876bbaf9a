"""The page context: the visitor and the program of a page."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from storage.access.workspaces import ANYONE, Role
from storage.lists.programs import Program, read_program
from storage.management import program_settings
from storage.rules.keys import Rotation, rotation_state
from tracking_api.dashboard.authentication import VisitorRequest, WorkspaceRequest, of_program, request_of
from tracking_api.dashboard.pages import text


@dataclass(frozen=True, kw_only=True)
class PageContext(VisitorRequest):
    """A request of an active member for a page of a program; `choices` are the programs that they can switch to."""

    program: Program
    choices: Sequence[Any]

    @property
    def shown(self) -> dict[str, Any]:
        return {"context": self}

    @property
    def program_path(self) -> str:
        return f"/programs/{self.program.id}"

    def of_workspace(self) -> WorkspaceRequest:
        """Return the same person's request about the workspace."""
        return request_of(WorkspaceRequest, self.request, self.visitor._replace(program_id=None))

    @property
    def currency(self) -> str:
        return self.program.settings.currency

    @property
    def rotation(self) -> Rotation:
        return rotation_state(self.program.rotate_by, self.at)


async def as_member(request: Request, roles: Collection[Role] = ANYONE) -> PageContext:
    """Return the page context of the path's program, for a member of these roles. Raises Forbidden, OwnerRequired."""
    call = await of_program(request, roles)
    text.show_to(request, call.visitor)

    def find(connection: Any) -> dict[str, Any]:
        program = read_program(connection, call.program_id)
        return {"program": program, "choices": program_settings.list_choices(connection, call.visitor.user_id)}

    return request_of(PageContext, request, call.visitor, **await call.storage.read(find))
