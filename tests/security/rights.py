"""What every credential may reach, from present memberships and grants alone; docs/security.md says what ends what."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from storage.access.workspaces import Role
from storage.rules.scope import Scope

PAGE = Path(__file__).parent.parent.parent / "docs" / "security.md"
Reach = set[tuple[str, int, str]]  # ("program", its id, what may be done with it)


class Kind(StrEnum):
    """The credentials that there are."""

    SESSION = "session"
    DEVICE = "device login"
    RESET = "reset link"
    INVITATION = "invitation"
    ASSISTANT = "assistant"  # a code, an access token or a refresh token
    AGENT_KEY = "agent key"
    PROGRAM_KEY = "program key"


@dataclass(frozen=True)
class Grant:
    """What a credential was given for: an account, or programs of a workspace (None: all of them)."""

    kind: Kind
    until: datetime
    user_id: int = 0
    workspace_id: int = 0
    programs: frozenset[int] | None = None
    scopes: frozenset[Scope] = frozenset()
    role: Role = Role.MEMBER
    email: str = ""
    made_by: int = 0  # the owner who made a link; 0: the operator, or the holder of the mailbox
    of: str = ""  # what ends with it: an assistant, an agent key, an invitation or a link that a newer one replaces


@dataclass
class Membership:
    """A person's place in a workspace."""

    role: Role
    is_active: bool = True


@dataclass(frozen=True)
class Event:
    """What happened, to whom or what; `but` is a credential that survives."""

    name: str
    user_id: int = 0
    workspace_id: int = 0
    program_id: int = 0
    but: str = ""


def _of_user(kind: Kind) -> Callable[["Rights", Grant, Event], bool]:
    return lambda _, grant, event: grant.kind == kind and grant.user_id == event.user_id


def _of_assistant(_: "Rights", grant: Grant, event: Event) -> bool:
    mine = grant.user_id == event.user_id and event.workspace_id in {0, grant.workspace_id}
    return grant.kind == Kind.ASSISTANT and (_of_program(grant, event) if event.program_id else mine)


def _of_program(grant: Grant, event: Event) -> bool:
    return grant.programs == frozenset({event.program_id}) and grant.workspace_id == event.workspace_id


def _made_by(rights: "Rights", grant: Grant, event: Event) -> bool:
    here = grant.workspace_id or (event.workspace_id if (event.workspace_id, grant.user_id) in rights.members else 0)
    return bool(event.user_id) and grant.made_by == event.user_id and event.workspace_id in {0, here}


COLUMNS: dict[str, Callable[["Rights", Grant, Event], bool]] = {
    "sessions": _of_user(Kind.SESSION),
    "device logins": _of_user(Kind.DEVICE),
    "reset links": _of_user(Kind.RESET),
    "links that they made": _made_by,
    "assistants": _of_assistant,
    "agent keys": lambda _, grant, event: grant.kind == Kind.AGENT_KEY and _of_program(grant, event),
    "program keys": lambda _, grant, event: grant.kind == Kind.PROGRAM_KEY and _of_program(grant, event),
}


def ending() -> dict[str, set[str]]:
    """Return the columns that say `end`, of each event in the table of docs/security.md."""
    table = PAGE.read_text(encoding="utf-8").partition("## What ends what")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("|")]
    heads = rows[0][1:]
    assert heads == [*COLUMNS]
    return {
        name: {head for head, cell in zip(heads, cells, strict=True) if cell.startswith("end")}
        for name, *cells in rows[2:]
    }


@dataclass
class Rights:
    """Everything that is so at present."""

    users: dict[str, int] = field(default_factory=dict)  # by e-mail address
    members: dict[tuple[int, int], Membership] = field(default_factory=dict)  # by workspace and user
    programs: dict[int, int] = field(default_factory=dict)  # the workspace of each
    grants: dict[str, Grant] = field(default_factory=dict)  # by token
    given_out: set[tuple[str, int]] = field(default_factory=set)  # every id that a table ever assigned
    ending = ending()

    def happens(self, event: Event) -> None:
        """End what the table says."""
        columns = [COLUMNS[each] for each in self.ending[event.name]]
        ended = [
            token
            for token, grant in self.grants.items()
            if token != event.but and any(concerns(self, grant, event) for concerns in columns)
        ]
        for token in ended:
            del self.grants[token]

    def change(self, workspace_id: int, user_id: int, new: Membership | None) -> None:
        old = self.members.get((workspace_id, user_id))
        if old == new:
            return
        name = "their role or status changes" if new else "they are removed from a workspace"
        self.happens(Event(name if old else "they join a workspace", user_id, workspace_id))
        if new:
            self.members[workspace_id, user_id] = new
        else:
            del self.members[workspace_id, user_id]
            if not any(each == user_id for _, each in self.members):
                self.happens(Event("they are removed from their last workspace", user_id))

    def delete(self, program_id: int) -> None:
        workspace_id = self.programs.pop(program_id)
        for name in ("a program is deleted", "the last program of its grant is deleted"):
            self.happens(Event(name, workspace_id=workspace_id, program_id=program_id))
        for token, grant in self.grants.items():
            if grant.workspace_id == workspace_id and grant.programs is not None:
                self.grants[token] = replace(grant, programs=grant.programs - {program_id})

    def of(self, kind: Kind, of: str = "") -> dict[str, Grant]:
        """Return the grants of a kind, or those of one assistant, agent key, invitation or link."""
        return {token: each for token, each in self.grants.items() if each.kind == kind and of in {"", each.of}}

    def end(self, kind: Kind, of: str) -> None:
        for token in self.of(kind, of):
            del self.grants[token]

    def of_account(self, user_id: int) -> Reach:
        """Return what an account reaches: its active memberships."""
        active = {w: each.role for (w, user), each in self.members.items() if user == user_id and each.is_active}
        return {one for workspace_id, role in active.items() for one in self.of_workspace(workspace_id, role)}

    def of_workspace(self, workspace_id: int, role: Role) -> Reach:
        """Return what a member reaches: the workspace and each of its programs."""
        mine = [("program", each) for each, workspace in self.programs.items() if workspace == workspace_id]
        return {(*each, str(role)) for each in [("workspace", workspace_id), *mine]}

    def owns(self, user_id: int, workspace_id: int) -> bool:
        return self.members.get((workspace_id, user_id)) == Membership(Role.OWNER)

    def may(self, token: str, at: datetime) -> Reach:
        grant = self.grants.get(token)
        if grant is None or grant.until <= at:
            return set()
        theirs = {workspace for workspace, user in self.members if user == grant.user_id}
        membership = self.members.get((grant.workspace_id, grant.user_id))
        if grant.kind in {Kind.SESSION, Kind.DEVICE}:
            return self.of_account(grant.user_id)
        if grant.kind == Kind.RESET:
            is_owned = not grant.made_by or all(self.owns(grant.made_by, each) for each in theirs)
            return self.of_account(grant.user_id) if is_owned else set()
        if grant.kind == Kind.INVITATION:
            is_owned = not grant.made_by or self.owns(grant.made_by, grant.workspace_id)
            own = self.of_account(self.users.get(grant.email, 0))
            return own | self.of_workspace(grant.workspace_id, grant.role) if is_owned else set()
        if grant.kind == Kind.ASSISTANT and (membership is None or not membership.is_active):
            return set()
        mine = {("program", each, "read") for each, there in self.programs.items() if there == grant.workspace_id}
        named = {one for one in mine if grant.programs is None or one[1] in grant.programs}
        return named | {("workspace", grant.workspace_id, scope) for scope in grant.scopes}
