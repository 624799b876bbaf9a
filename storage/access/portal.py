"""The partners' portal: one-time links, and sessions that know one partner of one program. Only hashes are stored."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, insert

from storage.access.sessions import IDLE, LIFETIME, Sessions, Started
from storage.engine import audit
from storage.engine.audit import By, Change
from storage.engine.database import insert_for
from storage.engine.statements import read_statement
from storage.rules import keys
from storage.rules.errors import Forbidden, LinkExpired, NotFound, required
from storage.tables import portal_accounts, portal_tokens
from storage.tables.columns import Timestamp

ASKED_LASTS, INVITED_LASTS = timedelta(minutes=15), timedelta(days=7)
SIGN_IN = "Sign in with your e-mail address."
ASK_AGAIN = "Ask for a new link on the sign-in page of the portal."
LONGEST_ID = 15  # digits
LINK, SESSION = "link", "session"  # the kinds of tokens: a link opens a session, a session the portal
OTHER_BROWSER = "Open the link in the browser in which you asked for it."
_row = portal_tokens.c
_OF_EMAIL, _PARTNER, _LINK = (read_statement(f"portal_{name}") for name in ("partners", "partner", "link"))
_SESSION = read_statement("portal_session", used_at=Timestamp)


def ask(connection: Connection, email: str, *, browser: str, at: datetime) -> str | None:
    """Return the token of a new link for the partners with an e-mail address, for one browser; None without any."""
    found = connection.execute(_OF_EMAIL, {"email": email.strip().lower()}).mappings().all()
    if not found:
        return None
    token = keys.generate(keys.PORTAL_PREFIX)
    about = {"created_at": at, "expires_at": at + ASKED_LASTS, "browser_hash": keys.digest(browser)}
    _add(connection, token, found, kind=LINK, **about)
    return token


def invite(connection: Connection, program_id: int, partner_id: int, *, by: By) -> tuple[str, Any]:
    """Return the token of a new link for a partner, which ends earlier ones, and the partner's row. Raises NotFound."""
    partner = _require(connection, program_id, partner_id)
    links = (*_of_partner(program_id, partner_id), _row.kind == LINK, _row.browser_hash.is_(None))
    connection.execute(delete(portal_tokens).where(*links))
    token = keys.generate(keys.PORTAL_PREFIX)
    whose = {"program_id": program_id, "partner_id": partner_id, "email": partner.email or ""}
    _add(connection, token, [whose], kind=LINK, created_at=by.at, expires_at=by.at + INVITED_LASTS)
    audit.write(connection, program_id, [Change("portal.invite", partner_id)], by=by)
    return token, partner


def find(connection: Connection, token: str, *, at: datetime) -> Sequence[Any]:
    """Return whom a link signs in, without using it up; `browser_hash` None: in any browser. Raises LinkExpired."""
    found = connection.execute(_LINK, {"token_hash": keys.digest(token), "at": at}).all()
    if not found:
        raise LinkExpired(hint=ASK_AGAIN)
    return found


def redeem(
    connection: Connection, token: str, program_id: int, *, browser: str, client: str | None, at: datetime
) -> Started:
    """Start a session with a link, which is used up. Raises LinkExpired, also in a browser that did not ask for it."""
    if find(connection, token, at=at)[0].browser_hash not in {None, keys.digest(browser)}:
        raise LinkExpired(OTHER_BROWSER, hint=ASK_AGAIN)
    of_link = (_row.token_hash == keys.digest(token), _row.kind == LINK)
    used = delete(portal_tokens).where(*of_link).returning(_row.program_id, _row.partner_id, _row.email)
    of_program = {each["program_id"]: each for each in connection.execute(used).mappings()}
    if program_id not in of_program:
        raise LinkExpired(hint=ASK_AGAIN)
    whose = of_program[program_id]
    session = keys.generate(f"{keys.PORTAL_PREFIX}{program_id}_")
    about = {"created_at": at, "expires_at": at + LIFETIME, "client": client and client[:255]}
    _add(connection, session, [whose], kind=SESSION, **about)
    account = {"program_id": program_id, "partner_id": whose["partner_id"], "summarized_on": at.date().replace(day=1)}
    connection.execute(insert_for(connection)(portal_accounts).values(account).on_conflict_do_nothing())
    return Started(session, at + LIFETIME)


def identify(connection: Connection, token: str, *, at: datetime) -> Any:
    """Return the row of a session's partner and their program. Raises the same Forbidden whatever is missing."""
    named = {"program_id": _program_of(token), "token_hash": keys.digest(token), "at": at, "idle_since": at - IDLE}
    return required(connection.execute(_SESSION, named).one_or_none(), Forbidden(SIGN_IN))


def sessions_of(program_id: int, partner_id: int) -> Sessions:
    """Return all sessions of a partner."""
    return Sessions(portal_tokens, and_(*_of_partner(program_id, partner_id), _row.kind == SESSION))


def session_by(token: str) -> Sessions:
    """Return the session that a token opens."""
    named = (_row.program_id == _program_of(token), _row.token_hash == keys.digest(token))
    return Sessions(portal_tokens, and_(*named, _row.kind == SESSION))


def revoke(connection: Connection, program_id: int, partner_id: int, *, by: By) -> None:
    """End a partner's links and sessions. Raises NotFound for another program's partner."""
    _require(connection, program_id, partner_id)
    connection.execute(delete(portal_tokens).where(*_of_partner(program_id, partner_id)))
    audit.write(connection, program_id, [Change("portal.revoke", partner_id)], by=by)


def _require(connection: Connection, program_id: int, partner_id: int) -> Any:
    row = connection.execute(_PARTNER, {"program_id": program_id, "partner_id": partner_id}).one_or_none()
    return required(row, NotFound("The program has no such partner."))


def _add(connection: Connection, token: str, whose: Sequence[Mapping[Any, Any]], **about: Any) -> None:
    hashed = {"token_hash": keys.digest(token)}
    connection.execute(insert(portal_tokens), [{**each, **hashed, **about} for each in whose])


def _program_of(token: str) -> int:
    """Return the program that the token of a session names; 0 for none."""
    program = token.removeprefix(keys.PORTAL_PREFIX).partition("_")[0]
    return int(program) if program.isascii() and program.isdecimal() and len(program) <= LONGEST_ID else 0


def _of_partner(program_id: int, partner_id: int) -> tuple[ColumnElement[bool], ...]:
    return (_row.program_id == program_id, _row.partner_id == partner_id)
