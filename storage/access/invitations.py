"""Invitations to a workspace: a one-time link, valid for a week, that makes a person a member."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Boolean, Connection, delete, insert, select

from storage.access import accounts, members, second_factors, sessions, workspaces
from storage.engine.audit import Actor, By, Change
from storage.engine.sealing import Sealer
from storage.engine.statements import read_statement
from storage.rules import keys
from storage.rules.errors import Forbidden, LinkExpired, NotFound, ValidationError, required
from storage.tables import invitations

LIFETIME = timedelta(days=7)
_OFFER = read_statement("invitation_offer", is_mailed=Boolean, asks_password=Boolean)
SEPARATOR = "."  # between a link's token and the proof that it was e-mailed


class Invitation(NamedTuple):
    """An invitation that waits for an answer."""

    id: int
    email: str
    role: workspaces.Role
    created_at: datetime
    expires_at: datetime


class NewInvitation(NamedTuple):
    invitation: Invitation
    token: str  # of the link; stored as a hash
    mailed_token: str  # proves that it was e-mailed


def invite(connection: Connection, workspace_id: int, *, email: str, role: workspaces.Role, by: By) -> NewInvitation:
    """Create an invitation, which replaces an earlier one to the same person. Raises ValidationError for a member."""
    email = email.strip().lower()
    if members.list_members(connection, workspace_id, email=email):
        raise ValidationError.of("email", "This account is a member of the workspace already")
    same = (invitations.c.workspace_id == workspace_id, invitations.c.email == email)
    connection.execute(delete(invitations).where(*same))
    token, proof = keys.generate(keys.INVITATION_PREFIX), keys.generate("")
    about: dict[str, Any] = {"email": email, "role": role, "created_at": by.at, "expires_at": by.at + LIFETIME}
    secrets = {"token_hash": keys.digest(token), "mailed_hash": keys.digest(proof)}
    new = insert(invitations).values(**about, **secrets, workspace_id=workspace_id, created_by=by.actor.user_id)
    invitation = Invitation(connection.execute(new.returning(invitations.c.id)).scalar_one(), **about)
    entry = Change("member.invite", invitation.id, "email", None, email)
    members.write_audit(connection, workspace_id, [entry], by=by)
    return NewInvitation(invitation, token, f"{token}{SEPARATOR}{proof}")


def list_invitations(connection: Connection, workspace_id: int, *, at: datetime) -> list[Invitation]:
    """Return a workspace's invitations that have neither been accepted nor expired, the oldest first."""
    waiting = (invitations.c.workspace_id == workspace_id, invitations.c.expires_at > at)
    rows = connection.execute(select(invitations).where(*waiting).order_by(invitations.c.id))
    return [Invitation(row.id, row.email, workspaces.Role(row.role), row.created_at, row.expires_at) for row in rows]


def withdraw(connection: Connection, workspace_id: int, invitation_id: int, *, by: By) -> None:
    """Delete an invitation: its link is dead. Raises NotFound."""
    mine = (invitations.c.workspace_id == workspace_id, invitations.c.id == invitation_id)
    email = connection.execute(delete(invitations).where(*mine).returning(invitations.c.email)).scalar()
    required(email, NotFound("There is no such invitation.", hint="List the workspace's invitations."))
    entry = Change("member.withdraw", invitation_id, "email", email)
    members.write_audit(connection, workspace_id, [entry], by=by)


def find(connection: Connection, token: str, *, at: datetime) -> Any:
    """Return what a link offers, without using it up. Raises LinkExpired, also once the inviter owns nothing here."""
    secret, _, proof = token.partition(SEPARATOR)
    named = {"token_hash": keys.digest(secret), "mailed_hash": keys.digest(proof), "at": at}
    return required(connection.execute(_OFFER, named).one_or_none(), LinkExpired)


def join(connection: Connection, token: str, *, user_id: int, at: datetime) -> None:
    """Make the signed-in user a member, once. Raises LinkExpired, Forbidden for another account than the invited."""
    offer = find(connection, token, at=at)
    if offer.user_id != user_id:
        raise Forbidden(f"This invitation is for {offer.email}.", hint="Sign in with that account.")
    _add(connection, offer, password_hash="", at=at)


def sign_up(
    connection: Connection,
    token: str,
    *,
    password_hash: str,
    code: str | None = None,
    sealer: Sealer,
    client: str | None = None,
    at: datetime,
) -> sessions.Started:
    """Create the invited account and sign it in, once. An account that is in no workspace any more is opened again.

    It keeps its password, which must be this one, unless the link was mailed; its second factor needs a code, and no
    old session comes back. Raises LinkExpired, Forbidden if the account is in use, ValidationError for another password
    than the account's, and SecondFactorRequired, InvalidSecondFactor.
    """
    offer = find(connection, token, at=at)
    if offer.user_id is not None:
        raise Forbidden(f"{offer.email} has an account already.", hint="Sign in, then open the link again.")
    user_id = _add(connection, offer, password_hash=password_hash, at=at)
    second_factors.require(connection, user_id, code, sealer=sealer, at=at)
    actor = Actor("user", str(user_id), offer.email)
    if accounts.find_hash(connection, offer.email) != password_hash:
        accounts.set_password(connection, user_id, password_hash, by=By(actor, at))
    if offer.is_mailed:
        accounts.change(connection, user_id, email_proven_at=at)
    sessions.end_all(connection, user_id)
    return sessions.start(connection, user_id, client=client, at=at)


def _add(connection: Connection, offer: Any, *, password_hash: str, at: datetime) -> int:
    """Use the invitation up and add its member; return their user id. Raises LinkExpired."""
    spent = delete(invitations).where(invitations.c.id == offer.id)
    if connection.execute(spent).rowcount == 0:
        raise LinkExpired
    account: dict[str, Any] = {"password_hash": password_hash, "takes_existing": not offer.asks_password}
    about: dict[str, Any] = {"email": offer.email, "role": offer.role, "at": at}
    user_id = workspaces.add_member(connection, offer.workspace_id, **about, **account)
    actor = Actor("user", str(user_id), offer.email)
    entry = Change("member.join", user_id, "role", None, offer.role)
    members.write_audit(connection, offer.workspace_id, [entry], by=By(actor, at))
    return user_id
