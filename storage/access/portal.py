"""The partners' portal: one-time links, and sessions that know one partner of one program. Only hashes are stored.

A link or a session ends when it expires, when a manager revokes it, and when the partner's e-mail address changes.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, select, update

from storage.access.sessions import ID_SIZE, IDLE, LIFETIME, OpenSession, Started
from storage.engine import audit
from storage.engine.audit import Actor, Change
from storage.engine.database import insert_for
from storage.rules import keys
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import Forbidden, LinkExpired, NotFound
from storage.tables import partners, portal_accounts, portal_tokens, programs

ASKED_LASTS, INVITED_LASTS = timedelta(minutes=15), timedelta(days=7)
SIGN_IN = "Sign in with your e-mail address."
ASK_AGAIN = "Ask for a new link on the sign-in page of the portal."
OTHER_BROWSER = "Open the link in the browser in which you asked for it."
_row, _partner = portal_tokens.c, partners.c
_theirs = and_(_partner.program_id == _row.program_id, _partner.id == _row.partner_id)
_same_email = func.coalesce(_partner.email, "") == _row.email
_used_at = func.coalesce(_row.used_at, _row.created_at)


class TokenKind(StrEnum):
    """What a token opens: a link opens a session, a session the portal."""

    LINK = "link"
    SESSION = "session"


class PortalChoice(NamedTuple):
    """A partner of a program whom a link signs in."""

    program_id: int
    program: str
    name: str


class PortalLink(NamedTuple):
    """A link that was not used: whom it signs in, of several programs one by choice, and in which browser (any)."""

    choices: list[PortalChoice]
    browser_hash: str | None


class SignedInPartner(NamedTuple):
    """The partner of a session, and their program, with what it allows partners to see."""

    program_id: int
    partner_id: int
    name: str
    code: str
    email: str | None
    status: PartnerStatus
    program: str
    domain: str
    currency: str
    shows_amounts: bool
    used_at: datetime

    @property
    def actor(self) -> Actor:
        return Actor("partner", str(self.partner_id), self.name, may_pay=False)


def ask(connection: Connection, email: str, *, browser: str, at: datetime) -> str | None:
    """Return the token of a new link for the partners with an e-mail address, for one browser; None without any."""
    mine = func.lower(_partner.email) == email.strip().lower()
    found = connection.execute(select(_partner.program_id, _partner.id, _partner.email).where(mine)).all()
    if not found:
        return None
    token = keys.generate(keys.PORTAL_PREFIX)
    about: dict[str, Any] = {
        "token_hash": keys.digest(token),
        "kind": TokenKind.LINK,
        "browser_hash": keys.digest(browser),
    }
    about |= {"created_at": at, "expires_at": at + ASKED_LASTS}
    first = {each[0]: each for each in sorted(found, reverse=True)}  # of two partners of a program, who came first
    rows = [
        about | dict(zip(("program_id", "partner_id", "email"), first[each], strict=True)) for each in sorted(first)
    ]
    connection.execute(insert(portal_tokens), rows)
    return token


def invite(connection: Connection, program_id: int, partner_id: int, *, actor: Actor, at: datetime) -> tuple[str, Any]:
    """Return the token of a new link for a partner, which ends earlier ones, and the partner's row. Raises NotFound."""
    partner = _require(connection, program_id, partner_id)
    links = (*_of_partner(program_id, partner_id), _row.kind == TokenKind.LINK, _row.browser_hash.is_(None))
    connection.execute(delete(portal_tokens).where(*links))
    token = keys.generate(keys.PORTAL_PREFIX)
    about = {"kind": TokenKind.LINK, "email": partner.email or "", "created_at": at, "expires_at": at + INVITED_LASTS}
    new = {"program_id": program_id, "token_hash": keys.digest(token), "partner_id": partner_id, **about}
    connection.execute(insert(portal_tokens).values(new))
    audit.write(connection, program_id, [Change("portal.invite", partner_id)], actor=actor, at=at)
    return token, partner


def find(connection: Connection, token: str, *, at: datetime) -> PortalLink:
    """Return what a link opens, without using it up. Raises LinkExpired."""
    tables = portal_tokens.join(partners, _theirs).join(programs, programs.c.id == _row.program_id)
    columns = (_row.program_id, programs.c.name, _partner.name.label("partner"), _row.browser_hash)
    live = (_row.token_hash == keys.digest(token), _row.kind == TokenKind.LINK, _row.expires_at > at, _same_email)
    found = connection.execute(select(*columns).select_from(tables).where(*live).order_by(programs.c.name)).all()
    if not found:
        raise LinkExpired(hint=ASK_AGAIN)
    return PortalLink([PortalChoice(*each[:3]) for each in found], found[0].browser_hash)


def redeem(
    connection: Connection, token: str, program_id: int, *, browser: str, client: str | None, at: datetime
) -> Started:
    """Start a session with a link, which is used up. Raises LinkExpired, also in a browser that did not ask for it."""
    link = find(connection, token, at=at)
    if link.browser_hash not in {None, keys.digest(browser)}:
        raise LinkExpired(OTHER_BROWSER, hint=ASK_AGAIN)
    of_link = (_row.token_hash == keys.digest(token), _row.kind == TokenKind.LINK)
    used = delete(portal_tokens).where(*of_link).returning(_row.program_id, _row.partner_id, _row.email)
    of_program = {each[0]: each for each in connection.execute(used)}
    if program_id not in of_program:
        raise LinkExpired(hint=ASK_AGAIN)
    _, partner_id, email = of_program[program_id]
    session = keys.generate(f"{keys.PORTAL_PREFIX}{program_id}_")
    about: dict[str, Any] = {"kind": TokenKind.SESSION, "email": email, "client": client and client[:255]}
    about |= {"created_at": at, "expires_at": at + LIFETIME}
    new = {"program_id": program_id, "token_hash": keys.digest(session), "partner_id": partner_id, **about}
    connection.execute(insert(portal_tokens).values(new))
    account = {"program_id": program_id, "partner_id": partner_id, "summarized_on": at.date().replace(day=1)}
    connection.execute(insert_for(connection)(portal_accounts).values(account).on_conflict_do_nothing())
    return Started(session, at + LIFETIME)


def identify(connection: Connection, token: str, *, at: datetime) -> SignedInPartner:
    """Return the partner of a session. Raises the same Forbidden whatever is missing."""
    tables = portal_tokens.join(partners, _theirs).join(programs, programs.c.id == _row.program_id)
    partner = (_row.program_id, _partner.id, _partner.name, _partner.code, _partner.email, _partner.status)
    program = (programs.c.name, programs.c.domain, programs.c.currency, programs.c.partners_see_amounts, _used_at)
    live = (*_session(token), _row.expires_at > at, _used_at > at - IDLE, _same_email)
    row = connection.execute(select(*partner, *program).select_from(tables).where(*live)).one_or_none()
    if row is None:
        raise Forbidden(SIGN_IN)
    return SignedInPartner(*row)._replace(status=PartnerStatus(row.status))


def use(connection: Connection, token: str, *, at: datetime) -> None:
    """Note that a session is in use."""
    connection.execute(update(portal_tokens).where(*_session(token), _row.expires_at > at).values(used_at=at))


def end(connection: Connection, token: str) -> None:
    """Sign out by deleting the session; a missing one is no error."""
    connection.execute(delete(portal_tokens).where(*_session(token)))


def list_open(
    connection: Connection, program_id: int, partner_id: int, token: str | None, *, at: datetime
) -> list[OpenSession]:
    """Return a partner's sessions, the newest first; `token` is of the session that asks."""
    live = (_row.kind == TokenKind.SESSION, _row.expires_at > at, _used_at > at - IDLE)
    mine = select(portal_tokens).where(*_of_partner(program_id, partner_id), *live)
    own = keys.digest(token or "")
    return [
        OpenSession(row.token_hash[:ID_SIZE], row.client, row.created_at, row.expires_at, row.token_hash == own)
        for row in connection.execute(mine.order_by(_row.created_at.desc(), _row.token_hash))
    ]


def end_one(connection: Connection, program_id: int, partner_id: int, session_id: str) -> None:
    """End one of a partner's sessions. Raises NotFound."""
    named = func.substr(_row.token_hash, 1, ID_SIZE) == session_id
    mine = (*_of_partner(program_id, partner_id), _row.kind == TokenKind.SESSION, named)
    if connection.execute(delete(portal_tokens).where(*mine)).rowcount == 0:
        raise NotFound("There is no such session.", hint="List the sessions again.")


def revoke(connection: Connection, program_id: int, partner_id: int, *, actor: Actor, at: datetime) -> None:
    """End a partner's links and sessions. Raises NotFound for another program's partner."""
    _require(connection, program_id, partner_id)
    connection.execute(delete(portal_tokens).where(*_of_partner(program_id, partner_id)))
    audit.write(connection, program_id, [Change("portal.revoke", partner_id)], actor=actor, at=at)


def _require(connection: Connection, program_id: int, partner_id: int) -> Any:
    columns = (_partner.name, _partner.email, programs.c.name.label("program"))
    mine = (_partner.program_id == program_id, _partner.id == partner_id)
    found = select(*columns).join(programs, programs.c.id == _partner.program_id).where(*mine)
    row = connection.execute(found).one_or_none()
    if row is None:
        raise NotFound("The program has no such partner.")
    return row


def _session(token: str) -> tuple[ColumnElement[bool], ...]:
    """Return the condition of the session of a token, which names its program."""
    program = token.removeprefix(keys.PORTAL_PREFIX).partition("_")[0]
    program_id = int(program) if program.isascii() and program.isdecimal() and len(program) <= ID_SIZE - 1 else 0
    return (_row.program_id == program_id, _row.token_hash == keys.digest(token), _row.kind == TokenKind.SESSION)


def _of_partner(program_id: int, partner_id: int) -> tuple[ColumnElement[bool], ...]:
    return (_row.program_id == program_id, _row.partner_id == partner_id)
