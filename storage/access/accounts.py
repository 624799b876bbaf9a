"""A user's account: its password, and the one-time links that set a new one."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from storage.access import assistants, members, sessions, workspaces
from storage.engine.audit import SERVICE, Actor, By, Change
from storage.rules import keys
from storage.rules.errors import Forbidden, LinkExpired, NotFound, required
from storage.tables import members as joined
from storage.tables import password_resets, users

LINK_LIFETIME = timedelta(hours=24)
OWNER_DELAY = timedelta(days=1)  # of a link for an owner, so that its holder learns of it first


class ResetLink(NamedTuple):
    """A one-time link's token, shown once and stored as a hash. It works from `usable_at` on; None: at once."""

    token: str
    expires_at: datetime
    usable_at: datetime | None = None


def find_id(connection: Connection, email: str) -> int:
    """Return the id of the account with an e-mail address. Raises NotFound."""
    user_id = connection.execute(select(users.c.id).where(users.c.email == email.strip().lower())).scalar()
    none = "There is no account with this e-mail address."
    return required(user_id, NotFound(none, hint="Add it: svc admin member add."))


def find_hash(connection: Connection, email: str) -> str | None:
    """Return the stored password hash of the account with an e-mail address; None without one."""
    return connection.execute(select(users.c.password_hash).where(users.c.email == email.strip().lower())).scalar()


def renew_hash(connection: Connection, account: sessions.Account, password_hash: str) -> bool:
    """Replace the hash of a password that stays; return False if the stored one has changed since it was verified."""
    same = (users.c.id == account.user_id, users.c.password_hash == account.password_hash)
    return connection.execute(update(users).where(*same).values(password_hash=password_hash)).rowcount == 1


def set_password(
    connection: Connection,
    user_id: int,
    password_hash: str,
    *,
    but: str | None = None,  # the token hash of a session that stays
    keeps_assistants: bool = False,
    by: By,
) -> int:
    """Set an account's password; end its reset links, assistants and sessions, and return how many sessions ended."""
    change(connection, user_id, password_hash=password_hash)
    if not keeps_assistants:
        assistants.end_all(connection, user_id, None, by=by)
    connection.execute(delete(password_resets).where(password_resets.c.user_id == user_id))
    write_audit(connection, user_id, "account.set_password", by=by)
    return sessions.end_all(connection, user_id, but=but)


def create_reset_link(connection: Connection, who: int | str, *, by: By) -> ResetLink:
    """Return a link's token for setting a new password within 24 hours; it replaces one of an owner or the operator.

    An owner may create one for an account that is in no workspace of others, which the link would open, too, else
    Forbidden is raised; this is checked again when it is used. For another owner it works a day later.
    The service's own is for the account's mailbox alone, which proves whose account it is. Anyone can ask for such a
    link: it ends no other and is in no log until it is used. A change of the account's memberships ends every link.
    """
    user_id = who if isinstance(who, int) else find_id(connection, who)
    owner_id, usable_at = by.actor.user_id, None
    if owner_id is not None:
        if not _may_reset(connection, owner_id, user_id):
            raise Forbidden(
                "This account also belongs to a workspace that is not yours.",
                hint="They can ask for a link on the sign-in page, or the operator of this server can create one.",
            )
        owns = (joined.c.user_id == user_id, joined.c.role == workspaces.Role.OWNER)  # suspended, too
        if connection.execute(select(joined.c.user_id).where(*owns).limit(1)).scalar() is not None:
            usable_at = by.at + OWNER_DELAY
    is_mailed = by.actor == SERVICE
    if not is_mailed:
        given = (password_resets.c.user_id == user_id, password_resets.c.is_mailed.is_(False))
        connection.execute(delete(password_resets).where(*given))
        write_audit(connection, user_id, "account.reset_link", by=by)
    link = ResetLink(keys.generate(keys.RESET_PREFIX), (usable_at or by.at) + LINK_LIFETIME, usable_at)
    row = {"token_hash": keys.digest(link.token), "user_id": user_id, "expires_at": link.expires_at}
    about = {"created_by": owner_id, "is_mailed": is_mailed, "usable_at": usable_at}
    connection.execute(insert(password_resets).values(**row, **about))
    return link


def find_reset(connection: Connection, token: str, *, at: datetime) -> Any:
    """Return the link with a token, and the `id` and `email` of its account. Raises LinkExpired."""
    live = (password_resets.c.token_hash == keys.digest(token), password_resets.c.expires_at > at)
    links = select(users.c.id, users.c.email, password_resets).join(users, password_resets.c.user_id == users.c.id)
    row = connection.execute(links.where(*live)).one_or_none()
    if row is None or (row.created_by is not None and not _may_reset(connection, row.created_by, row.id)):
        raise LinkExpired
    if row.usable_at is not None and row.usable_at > at:
        raise LinkExpired(f"This link works from {row.usable_at:%Y-%m-%d %H:%M} UTC on.", hint="Open it again then.")
    return row


def reset_password(connection: Connection, token: str, password_hash: str, *, at: datetime) -> str:
    """Set a new password by a link's token, once, and return the account's e-mail address. Raises LinkExpired."""
    row = find_reset(connection, token, at=at)
    spent = delete(password_resets).where(password_resets.c.token_hash == row.token_hash)
    if connection.execute(spent).rowcount == 0:
        raise LinkExpired
    if row.is_mailed or row.created_by is not None:  # the mailbox proves the address; after an owner's it is unproven
        change(connection, row.id, email_proven_at=at if row.is_mailed else None)
    set_password(connection, row.id, password_hash, by=By(Actor("user", str(row.id), row.email), at))
    return str(row.email)


def change(connection: Connection, /, user_id: int, **values: Any) -> None:
    """Change columns of an account."""
    connection.execute(update(users).where(users.c.id == user_id).values(**values))


def write_audit(connection: Connection, user_id: int, action: str, *, by: By) -> None:
    """Append an entry to the log of each program that the account can see."""
    mine = select(joined.c.workspace_id).where(joined.c.user_id == user_id)
    for workspace_id in connection.execute(mine).scalars().all():
        members.write_audit(connection, workspace_id, [Change(action, user_id)], by=by)


def _may_reset(connection: Connection, owner_id: int, user_id: int) -> bool:
    """Return whether an account belongs to workspaces of an active owner, and to no other."""
    is_owned = joined.c.workspace_id.in_(workspaces.owned_by(owner_id))
    theirs = connection.execute(select(is_owned).where(joined.c.user_id == user_id)).scalars().all()
    return bool(theirs) and all(theirs)
