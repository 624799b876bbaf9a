"""Who looks at which program: what every page of a program starts with."""

from datetime import datetime
from typing import NamedTuple

from starlette.requests import Request

from storage.access.sessions import Member
from storage.access.workspaces import Role
from storage.management import program_settings
from storage.management.program_settings import Program
from storage.rules import rotation
from storage.rules.rotation import Rotation
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of


class PageContext(NamedTuple):
    """A program, as an active member of its workspace sees it at a moment."""

    member: Member
    program: Program
    at: datetime
    base_url: str

    @property
    def email(self) -> str:
        """The account that is signed in."""
        return self.member.email

    @property
    def is_owner(self) -> bool:
        """Whether the forms are theirs."""
        return self.member.role == Role.OWNER

    @property
    def place(self) -> str:
        """Where the program's pages start."""
        return f"/programs/{self.program.id}"

    @property
    def currency(self) -> str:
        """The program's currency."""
        return self.program.settings.currency

    @property
    def rotation(self) -> Rotation:
        """The state of the program's key."""
        return rotation.state(self.program.rotate_by, self.at)


async def as_member(request: Request) -> PageContext:
    """Return the path's program as the visitor sees it. Raises Forbidden."""
    return await _seen(request, await authentication.member(request))


async def as_owner(request: Request) -> PageContext:
    """Return the path's program as its owner sees it. Raises Forbidden, OwnerRequired."""
    return await _seen(request, await authentication.owner(request))


async def _seen(request: Request, member: Member) -> PageContext:
    program = await storage_of(request).read(program_settings.get_program, member.program_id)
    return PageContext(member, program, time_of(request), request.app.state.settings.base_url)
