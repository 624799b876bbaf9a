"""How partners are paid: encrypted at rest, shown masked; a payout by a new method waits until it is released."""

import json
import tomllib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, select, update
from stdnum import bic, iban
from stdnum.exceptions import ValidationError as InvalidNumber
from stdnum.us import rtn

from storage.engine import audit
from storage.engine.audit import By, Change
from storage.engine.database import insert_for
from storage.engine.sealing import Sealer
from storage.management import partners
from storage.rules.contact import is_email, protect
from storage.rules.errors import FieldError, NotFound, ValidationError, required
from storage.rules.payout import METHOD_HOLD, MethodKind
from storage.tables import payout_methods

# The fields of each kind, as alternatives, and what is said of a field that is wrong.
NEEDED, WRONG = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).values()
CHECKS: Mapping[str, Any] = {"iban": iban, "bic": bic, "routing_number": rtn}
_row = payout_methods.c


class PayoutMethod(NamedTuple):
    """How a partner is paid, masked; payouts to it wait until `held_until`, unless it was released for a reason."""

    partner_id: int
    kind: MethodKind
    masked: str
    changed_at: datetime
    held_until: datetime
    release_reason: str | None


def change(
    connection: Connection,
    program_id: int,
    partner_id: int,
    kind: MethodKind,
    details: Mapping[str, str],
    *,
    sealer: Sealer,
    by: By,
) -> PayoutMethod:
    """Save how a partner is paid, and hold payouts if they were paid otherwise before. The log has no secret.

    Raises PartnerNotFound, ValidationError naming a field that is missing or wrong.
    """
    details = _checked(kind, details)
    partners.require(connection, program_id, partner_id)
    mine = (_row.program_id == program_id, _row.partner_id == partner_id)
    before = connection.execute(select(payout_methods).where(*mine).with_for_update()).one_or_none()
    if before is not None and (before.kind, json.loads(sealer.open(before.sealed))) == (kind, details):
        return _shown(before)
    held_until = by.at if before is None else by.at + METHOD_HOLD
    values: dict[str, Any] = {"kind": kind, "sealed": sealer.seal(json.dumps(details)), "masked": _masked(details)}
    values |= {"changed_at": by.at, "held_until": held_until, "release_reason": None}
    row = insert_for(connection)(payout_methods).values(program_id=program_id, partner_id=partner_id, **values)
    connection.execute(row.on_conflict_do_update(index_elements=["program_id", "partner_id"], set_=values))
    known = None if before is None else f"{before.kind} {before.masked}"
    entry = Change("payout_method.change", partner_id, "method", known, f"{kind} {values['masked']}")
    audit.write(connection, program_id, [entry], by=by)
    return get_method(connection, program_id, partner_id)


def release(connection: Connection, program_id: int, partner_id: int, *, reason: str, by: By) -> PayoutMethod:
    """Let payouts use a partner's new method now. Raises NotFound; ValidationError when nothing holds it."""
    method = get_method(connection, program_id, partner_id)
    if method.held_until <= by.at:
        raise ValidationError("Payouts to this method are not held.")
    mine = (_row.program_id == program_id, _row.partner_id == partner_id, _row.changed_at == method.changed_at)
    connection.execute(update(payout_methods).where(*mine).values(held_until=by.at, release_reason=reason))
    entry = Change("payout_method.release", partner_id, after={"method": method.masked, "reason": reason})
    audit.write(connection, program_id, [entry], by=by)
    return get_method(connection, program_id, partner_id)


def get_method(connection: Connection, program_id: int, partner_id: int) -> PayoutMethod:
    """Return how a partner is paid, masked. Raises NotFound without a method, and for another program's partner."""
    return required(find_method(connection, program_id, partner_id), NotFound("The partner has no payout method."))


def find_method(connection: Connection, program_id: int, partner_id: int) -> PayoutMethod | None:
    """Return how a partner is paid, masked; None without a method, and for another program's partner."""
    mine = (_row.program_id == program_id, _row.partner_id == partner_id)
    row = connection.execute(select(payout_methods).where(*mine)).one_or_none()
    return _shown(row) if row else None


def open_details(sealed: str | None, sealer: Sealer) -> dict[str, str]:
    """Return the details of a method (none: without any), for a payout's files. Raises UnreadableSecretError."""
    return json.loads(sealer.open(sealed)) if sealed else {}


def _shown(row: Any) -> PayoutMethod:
    return PayoutMethod(*(getattr(row, name) for name in PayoutMethod._fields))._replace(kind=MethodKind(row.kind))


def _checked(kind: MethodKind, details: Mapping[str, str]) -> dict[str, str]:
    """Return the details of a kind in their compact form. Raises ValidationError."""
    needed = next((names for names in NEEDED[kind] if names[-1] in details), NEEDED[kind][0])
    checked, wrong = {}, []
    for name in (*needed, *(["bic"] if "iban" in needed and "bic" in details else [])):
        value = details.get(name, "").strip()
        try:
            checked[name] = CHECKS[name].validate(value) if name in CHECKS else value
        except InvalidNumber:
            wrong.append(FieldError(name, WRONG[name]))
            continue
        if not value or (name == "email" and not is_email(value)):
            wrong.append(FieldError(name, WRONG.get(name, f"Required for {kind}")))
    if wrong:
        raise ValidationError(fields=wrong)
    return checked


def _masked(details: Mapping[str, str]) -> str:
    """Return what people see: enough to recognize it, and not enough to pay to it."""
    if "email" in details:
        return protect(details["email"]).email_mask
    number = details.get("iban") or details.get("account_number", "")
    return f"{number[:2] if 'iban' in details else ''}••{number[-4:]}" if number else details["text"][:1] + "•••"
