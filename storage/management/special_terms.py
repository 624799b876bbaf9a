"""Special terms: what a partner, or a group of partners, earns instead of what a program pays all."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from storage.engine import audit
from storage.engine.audit import By, Change
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.partners import PARTNERS, Partner, PartnerTerms
from storage.lists.programs import Program, lock_program
from storage.management import agent_caps, one_row
from storage.rules.errors import ValidationError
from storage.rules.settings import SETTINGS, ProgramSettings, published, stored
from storage.tables import commission_terms, partners
from storage.tracking.terms_in_force import GROUP_CHANGE, TermsSubject, find, special_version

REPLACED = ("commission_type", "rate", "lead_commission_cents", "minimum_order_cents", "recurring_months")
NO_RATE: Any = {"value_type": int | None, "if_empty": "no terms of their own"}
REPLACING = tuple(each._replace(**NO_RATE if each.name == "rate" else {}) for each in SETTINGS if each.name in REPLACED)
SHARED = ("platform_fee_bps", "commission_basis")  # with the program's terms
LONGEST_GROUP = 64
_row = commission_terms.c


def set_for_partner(
    connection: Connection, program_id: int, partner_id: int, changes: Mapping[str, Any], *, by: By
) -> Partner:
    """Set the `group` and own terms of a partner; a `commission_rate` of None ends these, what is left out stays."""
    program = lock_program(connection, program_id)
    partner = get(connection, PARTNERS, ListScope(program_id, by.at), partner_id)
    terms = dict(changes)
    group = terms.pop("group", partner.group)
    before, after = (TermsSubject(partner_id, each) for each in (partner.group, group))
    entries = []
    if group != partner.group:
        _require_name(group)
        action, field = GROUP_CHANGE
        entries.append(Change(action, partner_id, field, partner.group, group))
    entries += _set(connection, program, (before, after), terms, by=by)
    mine = one_row.of(partners, program_id, partner_id)
    connection.execute(update(partners).where(mine).values(partner_group=group))
    _point(connection, program_id, mine)
    return one_row.change(connection, PARTNERS, program_id, partner_id, *entries, by=by)


def set_for_group(
    connection: Connection, program_id: int, group: str, changes: Mapping[str, Any], *, by: By
) -> PartnerTerms:
    """Set the terms of a group as `set_for_partner` does a partner's; return those that apply to it now."""
    _require_name(group)
    program, subject = lock_program(connection, program_id), TermsSubject(None, group)
    entries = _set(connection, program, (subject, subject), changes, by=by)
    _point(connection, program_id, partners.c.partner_group == group)
    audit.write(connection, program_id, entries, by=by)
    return terms_of_group(connection, program_id, group)


def renew(connection: Connection, program_id: int, settings: ProgramSettings, *, by_agent: bool, at: datetime) -> None:
    """Give the special terms in force new versions, with what they share with the program's terms as it is now."""
    special = _row.partner_id.is_not(None) | _row.partner_group.is_not(None)
    in_force = (_row.program_id == program_id, _row.ended_at.is_(None), special)
    found = connection.execute(select(commission_terms).where(*in_force).order_by(_row.version)).mappings().all()
    if found:
        _end(connection, *in_force, at=at)
        first = next_version(connection, program_id)
        shared = {name: getattr(settings, name) for name in SHARED}
        new = shared | {"created_at": at, "by_agent": by_agent}
        rows = [{**row, **new, "version": version} for version, row in enumerate(found, first)]
        connection.execute(insert(commission_terms), rows)
        _point(connection, program_id, partners.c.terms_version.is_not(None))


def settings_of(settings: ProgramSettings, terms: PartnerTerms | None) -> ProgramSettings:
    """Return a program's settings with the special terms of a partner, if there are any."""
    if terms is None:
        return settings
    values = {each.public_name: getattr(terms, each.public_name) for each in REPLACING}
    return settings._replace(**stored(values, REPLACING, kind=terms.commission_type))


def terms_of_group(connection: Connection, program_id: int, group: str) -> PartnerTerms:
    """Return the terms that apply to the partners of a group who have none of their own."""
    return PartnerTerms.of(find(connection, program_id, TermsSubject(None, group)))


def next_version(connection: Connection, program_id: int) -> int:
    """Return the next version of a program's terms, special ones included; the caller has locked the program's row."""
    newest = select(func.max(_row.version)).where(_row.program_id == program_id)
    return int(connection.execute(newest).scalar_one()) + 1


def _require_name(group: str | None) -> None:
    if group is not None and (not 0 < len(group) <= LONGEST_GROUP or not group.isprintable() or "/" in group):
        raise ValidationError.of("group", f"Enter a name of at most {LONGEST_GROUP} characters, without a slash")


def _set(
    connection: Connection,
    program: Program,
    subjects: tuple[TermsSubject, TermsSubject],
    changes: Mapping[str, Any],
    *,
    by: By,
) -> list[Change]:
    """Replace the own terms of a subject, which was the first and is the second, or end them; return what to log."""
    was, subject = subjects
    settings = program.settings
    before, present = (settings_of(settings, PartnerTerms.of(find(connection, program.id, each))) for each in subjects)
    own = (_row.program_id == program.id, subject.own, _row.ended_at.is_(None))
    row = connection.execute(select(commission_terms).where(*own)).first()
    old = new = published(row, REPLACING) if row else None
    after = present
    if changes.get("commission_rate", ...) is None:
        new = None
        after = settings_of(settings, PartnerTerms.of(find(connection, program.id, subject.wider)))
    elif changes:
        after = present._replace(**stored(changes, REPLACING, kind=present.commission_type))
        new = published(after, REPLACING)
    if by.actor.is_agent:
        agent_caps.require_within(connection, program.id, before, after, at=by.at, levels=was.levels)
    if new == old:
        return []
    _end(connection, *own, at=by.at)
    group = None if subject.partner_id else subject.group
    if new is not None:
        terms = {name: getattr(after, name) for name in (*REPLACED, *SHARED)}
        whose = {"program_id": program.id, "partner_id": subject.partner_id, "partner_group": group}
        about = {"version": next_version(connection, program.id), "created_at": by.at, "by_agent": by.actor.is_agent}
        connection.execute(insert(commission_terms).values(**whose, **about, **terms))
    action = "partner.terms" if group is None else "partner.group_terms"
    return [Change(action, subject.partner_id, group, old, new)]


def _end(connection: Connection, *some: ColumnElement[bool], at: datetime) -> None:
    connection.execute(update(commission_terms).where(*some).values(ended_at=at))


def _point(connection: Connection, program_id: int, some: ColumnElement[bool]) -> None:
    """Have some partners of a program name the special terms in force for them."""
    theirs = update(partners).where(partners.c.program_id == program_id, some)
    connection.execute(theirs.values(terms_version=special_version()))
