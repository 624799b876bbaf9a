"""The commission terms in force, now or earlier: of a partner's own, their group's and the program's the first."""

import json
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select

from storage.engine.statements import read_statement
from storage.rules.commission import Terms, explained_terms
from storage.tables import commission_terms, partners

GROUP_CHANGE = ("partner.terms", "group")  # the action and the field that the audit log has of a new group
_GROUPS = read_statement("partner_groups")
_row = commission_terms.c


class TermsSubject(NamedTuple):
    """Whom terms are for: a partner, who may be in a group; without a partner, a group; with neither, the program."""

    partner_id: int | None = None
    group: str | None = None

    @property
    def wider(self) -> "TermsSubject":
        """Whose terms apply to the subject if it has none of its own."""
        return TermsSubject(None, self.group if self.partner_id else None)

    @property
    def own(self) -> ColumnElement[bool]:
        named = (self.partner_id, None if self.partner_id else self.group)
        columns = (_row.partner_id, _row.partner_group)
        return and_(*(each.is_not_distinct_from(value) for each, value in zip(columns, named, strict=True)))

    @property
    def levels(self) -> list[ColumnElement[bool]]:
        """The conditions for the terms that may apply, from the program's to the subject's own."""
        return [PROGRAM.own, self.wider.own, self.own]


PROGRAM = TermsSubject()


def find(connection: Connection, program_id: int, subject: TermsSubject, at: datetime | None = None) -> Terms:
    """Return the terms in force at a time (None: now), or else the program's first."""
    in_force: ColumnElement[bool] = _row.ended_at.is_(None)
    if at is not None:
        in_force = or_(_row.created_at <= at, _row.version == 1) & or_(in_force, _row.ended_at > at)
    generality = case((_row.partner_id.is_not(None), 0), (_row.partner_group.is_not(None), 1), else_=2)
    found = select(commission_terms).where(_row.program_id == program_id, or_(*subject.levels), in_force)
    return explained_terms(connection.execute(found.order_by(generality, _row.version.desc()).limit(1)).one())


def of_partner(connection: Connection, program_id: int, partner_id: int | None, at: datetime) -> Terms:
    """Return the terms in force at a time for a partner, in the group in which they were then; None: the program's."""
    if partner_id is None:
        return find(connection, program_id, PROGRAM, at)
    groups = connection.execute(_GROUPS, {"program_id": program_id, "partner_id": partner_id, "at": at}).one_or_none()
    present, before = groups or (None, None)
    group = present if before is None else json.loads(before)
    return find(connection, program_id, TermsSubject(partner_id, group), at)


def special_version() -> Any:
    """Return the version of the special terms in force for a partner, beside the table of partners; None without."""
    partner = partners.c
    of_each = (_row.partner_id == partner.id, _row.partner_group == partner.partner_group)
    in_force = (_row.program_id == partner.program_id, _row.ended_at.is_(None))
    return func.coalesce(
        *(select(_row.version).where(*in_force, mine).correlate(partners).scalar_subquery() for mine in of_each)
    )
