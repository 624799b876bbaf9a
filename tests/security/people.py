"""The steps of the matrix over time that people take: memberships, accounts and the links that open them."""

from typing import Any

from hypothesis import strategies as st
from sqlalchemy import update

from storage.access import accounts, device_logins, invitations, members, sessions, workspaces
from storage.access.workspaces import MemberStatus, Role
from storage.engine.audit import SERVICE, By
from storage.rules import keys
from storage.tables import members as members_table
from tests.security.asking import SEALER
from tests.security.machine import PICK, Machine, pick, step
from tests.security.rights import Event, Grant, Kind, Membership

EMAILS = [f"{name}@example.com" for name in ("ada", "ben", "cleo", "dan", "eve")]
STATUS = {True: MemberStatus.ACTIVE, False: MemberStatus.SUSPENDED}


class People(Machine):
    """Workspaces, their members, and how they sign in."""

    @step(email=PICK)
    def create_workspace(self, email: int) -> None:
        address, about = pick(EMAILS, email), {"password_hash": "a hash", "takes_existing": True}
        created, owner = self.do(workspaces.create, "A workspace", owner_email=address, **about, at=self.at)
        self.assigned("workspaces", created)
        self.joined(created, owner, address, Role.OWNER)

    def joined(self, workspace_id: int, user_id: int, email: str, role: Role) -> None:
        if email not in self.rights.users:
            self.rights.users[email] = self.assigned("users", user_id)
        self.rights.change(workspace_id, user_id, Membership(role))

    @step(workspace=PICK, email=PICK, role=st.sampled_from(Role))
    def add_member(self, workspace: int, email: int, role: Role) -> None:
        workspace_id, address = pick({each for each, _ in self.rights.members}, workspace), pick(EMAILS, email)
        about = {"email": address, "role": role, "password_hash": "a hash", "takes_existing": True}
        user_id = self.do(workspaces.add_member, workspace_id, **about, at=self.at)
        self.joined(workspace_id, user_id, address, role)

    def other(self, member: int, new: int) -> tuple[tuple[int, int], Membership]:
        """Return a member, and another role or status than theirs."""
        place = pick(self.rights.members, member)
        every = [Membership(role, is_active) for role in Role for is_active in (True, False)]
        return place, pick([each for each in every if each != self.rights.members[place]], new)

    @step(member=PICK, new=PICK, and_back=st.booleans())
    def change_member(self, *, member: int, new: int, and_back: bool) -> None:
        place, changed = self.other(member, new)
        before = self.rights.members[place]
        for each in [changed, *([before] if and_back else [])]:
            self.do(members.change, *place, role=each.role, status=STATUS[each.is_active], **self.by())
            self.rights.change(*place, each)
            self.changed = True

    @step(member=PICK, new=PICK)
    def change_member_by_a_process_of_an_old_release(self, member: int, new: int) -> None:
        """It ends no links: who uses one is checked, too."""
        (workspace_id, user_id), changed = self.other(member, new)
        pick([each for _, each in self.rights.members if each != user_id and self.rights.owns(each, workspace_id)], 0)
        this = (members_table.c.workspace_id == workspace_id, members_table.c.user_id == user_id)
        row = update(members_table).where(*this).values(role=changed.role, status=STATUS[changed.is_active])
        self.do(lambda connection: connection.execute(row))
        self.rights.members[workspace_id, user_id] = changed

    @step(member=PICK, and_back=st.booleans())
    def remove_member(self, *, member: int, and_back: bool) -> None:
        workspace_id, user_id = pick(self.rights.members, member)
        self.do(members.remove, workspace_id, user_id, **self.by())
        self.rights.change(workspace_id, user_id, None)
        self.changed = True
        if and_back:
            email = next(each for each, user in self.rights.users.items() if user == user_id)
            self.add_member(workspace=workspace_id - 1, email=EMAILS.index(email), role=Role.MEMBER)

    def user(self, number: int) -> int:
        return pick([user for (_, user), each in self.rights.members.items() if each.is_active], number)

    @step(gives=True, user=PICK)
    def sign_in(self, user: int) -> None:
        user_id = self.user(user)
        started = self.do(sessions.start, user_id, at=self.at)
        self.give(started.token, Grant(Kind.SESSION, self.at + sessions.IDLE, user_id))

    @step(gives=True, user=PICK)
    def approve_a_device(self, user: int) -> None:
        user_id = self.user(user)
        codes = self.do(device_logins.ask, client="a terminal", at=self.at)
        self.do(device_logins.decide, codes.user_code, user_id=user_id, approved=True, at=self.at)
        self.give(codes.device_code, Grant(Kind.DEVICE, self.at + device_logins.LIFETIME, user_id))

    @step(session=PICK, new_password=st.booleans())
    def end_other_sessions(self, *, session: int, new_password: bool) -> None:
        token, grant = pick(self.rights.of(Kind.SESSION).items(), session)
        kept = {"but": keys.digest(token)}
        name = "their password is changed, or set by a link" if new_password else "they end all other sessions"
        if new_password:
            self.do(accounts.set_password, grant.user_id, "another hash", **kept, **self.by(grant.user_id))
        else:
            self.do(sessions.end_all, grant.user_id, **kept)
        self.rights.happens(Event(name, grant.user_id, but=token))

    @step(gives=True, member=PICK, way=st.sampled_from(["owner", "operator", "mail"]), owner=PICK)
    def make_reset_link(self, member: int, way: str, owner: int) -> None:
        workspace_id, user_id = pick(self.rights.members, member)
        email, made_by = next(each for each, user in self.rights.users.items() if user == user_id), 0
        if way == "owner":
            made_by = pick([user for _, user in self.rights.members if self.rights.owns(user, workspace_id)], owner)
        if way == "mail":
            made = self.do(accounts.create_reset_link, email, by=By(SERVICE, self.at))
        else:
            made = self.do(accounts.create_reset_link, user_id, **self.by(made_by))
        of = "" if way == "mail" else f"{user_id}"
        if of:
            self.rights.end(Kind.RESET, of)
        self.give(made.token, Grant(Kind.RESET, made.expires_at, user_id, made_by=made_by, of=of))

    @step(link=PICK)
    def open_reset_link(self, link: int) -> None:
        token, grant = pick(self.rights.of(Kind.RESET).items(), link)
        self.do(accounts.reset_password, token, "a hash of the link", at=self.at)
        self.rights.happens(Event("their password is changed, or set by a link", grant.user_id))

    @step(gives=True, workspace=PICK, email=PICK, role=st.sampled_from(Role), owner=PICK)
    def invite(self, workspace: int, email: int, role: Role, owner: int) -> None:
        workspace_id, address = pick({each for each, _ in self.rights.members}, workspace), pick(EMAILS, email)
        made_by = pick([0, *(user for _, user in self.rights.members if self.rights.owns(user, workspace_id))], owner)
        made = self.do(invitations.invite, workspace_id, email=address, role=role, **self.by(made_by))
        self.assigned("invitations", made.invitation.id)
        about: dict[str, Any] = {"workspace_id": workspace_id, "role": role, "email": address, "made_by": made_by}
        self.rights.end(Kind.INVITATION, of := f"{workspace_id} {address}")
        for token in (made.token, made.mailed_token):
            self.give(token, Grant(Kind.INVITATION, made.invitation.expires_at, **about, of=of))

    @step(link=PICK)
    def accept_invitation(self, link: int) -> None:
        token, grant = pick(self.rights.of(Kind.INVITATION).items(), link)
        offer = self.do(invitations.find, token, at=self.at)
        if offer.user_id is not None:
            self.do(invitations.join, token, user_id=offer.user_id, at=self.at)
            self.rights.change(offer.workspace_id, offer.user_id, Membership(grant.role))
        else:
            started = self.do(invitations.sign_up, token, password_hash="a new hash", sealer=SEALER, at=self.at)
            user_id = self.do(accounts.find_id, grant.email)
            self.joined(offer.workspace_id, user_id, grant.email, grant.role)
            self.rights.happens(Event("their password is changed, or set by a link", user_id))
            self.give(started.token, Grant(Kind.SESSION, self.at + sessions.IDLE, user_id))
        self.rights.end(Kind.INVITATION, grant.of)
