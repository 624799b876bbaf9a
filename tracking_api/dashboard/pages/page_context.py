"""The page context: the visitor and the program of a page."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from presentation.api_request import ApiRequest
from storage.access.sessions import Visitor
from storage.access.workspaces import ANYONE, DECIDERS, MANAGERS, OWNERS, Role
from storage.lists.declaration import ListScope
from storage.lists.programs import Program, read_program
from storage.management import program_settings
from storage.rules.keys import Rotation, rotation_state
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import WorkspaceRequest, program_request, workspace_request
from tracking_api.dashboard.pages import text


@dataclass(frozen=True, kw_only=True)
class PageContext(ApiRequest):
    """A request of an active member for a page of a program; `choices` are the programs that they can switch to."""

    member: Visitor
    program: Program
    choices: Sequence[Any]

    @property
    def is_owner(self) -> bool:
        """Whether the visitor may change settings, keys and members."""
        return self.member.role in OWNERS

    @property
    def is_manager(self) -> bool:
        """Whether the visitor may change partners and decide on flags."""
        return self.member.role in MANAGERS

    @property
    def is_decider(self) -> bool:
        """Whether the visitor may decide on commissions, and credit what is missing."""
        return self.member.role in DECIDERS

    @property
    def program_path(self) -> str:
        """The path of the program's pages."""
        return f"/programs/{self.program.id}"

    def of_workspace(self) -> WorkspaceRequest:
        """Return the same person's request about the workspace."""
        return workspace_request(self.request, self.member, self.member.workspace.workspace_id)

    @property
    def scope(self) -> ListScope:
        """What its lists are of."""
        return ListScope(self.program.id, self.at)

    @property
    def currency(self) -> str:
        """The program's currency."""
        return self.program.settings.currency

    @property
    def rotation(self) -> Rotation:
        """The state of the program's key."""
        return rotation_state(self.program.rotate_by, self.at)


async def as_member(request: Request, roles: Collection[Role] = ANYONE) -> PageContext:
    """Return the page context of the path's program, for a member of these roles. Raises Forbidden, OwnerRequired."""
    member = await authentication.member(request, roles)
    text.show_to(request, member)
    call = program_request(request, member)

    def find(connection: Any) -> tuple[Program, Sequence[Any]]:
        program = read_program(connection, call.program_id)
        return program, program_settings.list_choices(connection, member.user_id)

    program, choices = await call.storage.read(find)
    return PageContext(**vars(call), member=member, program=program, choices=choices)
