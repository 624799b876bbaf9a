"""The list of partners: who they are, what each brought in a window, and what they are owed."""

from datetime import datetime
from typing import Annotated, Any, NamedTuple, Self
from urllib.parse import quote

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select

from storage.lists import balances
from storage.lists.declaration import FIRST_DAY, LAST_DAY, MOST_ROWS, PROGRAM, Column, Filter, List, ListScope, Theirs
from storage.lists.held import is_first
from storage.lists.related import contains
from storage.rules.attribution import PartnerStatus, site_url
from storage.rules.commission import CommissionType, Terms, TermsOf, explained_terms, shown_rate
from storage.rules.fraud.flag import FlagState
from storage.rules.untrusted import Untrusted
from storage.tables import commission_terms, flags, ledger_entries, partner_rollups, partners, programs

MOST_OF_A_NAME = 5
FIGURES = ("clicks", "leads", "conversions", "revenue_cents", "commission_cents")
_day, _flag = partner_rollups.c, flags.c
_brought = (
    select(_day.partner_id, *(func.sum(_day[name]).label(name) for name in FIGURES))
    .where(_day.program_id == PROGRAM, _day.day.between(FIRST_DAY, LAST_DAY))
    .group_by(_day.partner_id)
    .subquery("brought")
)
_flagged = (_flag.program_id == partners.c.program_id, _flag.partner_id == partners.c.id, _flag.state == FlagState.OPEN)
_open_flags = select(func.count()).where(*_flagged, is_first()).correlate(partners).scalar_subquery()


def _figure(title: str, name: str) -> Column:
    return Column(title, func.coalesce(_brought.c[name], 0), sorts=True, is_summed=True)


class PartnerTerms(NamedTuple):
    """The commission terms that apply to a partner, under the names and in the units of a program's settings.

    `whose` says whether they are the partner's own, those of the partner's `group`, or the program's.
    """

    version: int
    whose: TermsOf
    commission_type: CommissionType
    commission_rate: int | float
    lead_commission_cents: int
    minimum_order_cents: int
    recurring_months: int | None

    @classmethod
    def of(cls, terms: Terms) -> Self:
        rate = shown_rate(terms.type, terms.rate)
        later = (terms.lead_commission_cents, terms.minimum_order_cents, terms.recurring_months)
        return cls(terms.version, terms.whose, terms.type, rate, *later)


class Partner(NamedTuple):
    """A partner and what they brought in the window; `link` leads to the program's site with their `code`.

    `open_flags` counts the signs of fraud that wait for a decision. `to_pay_cents` is what is left to pay them now.
    `notes` are the workspace's own, which the partner never sees. Money is in cents of the program's currency.
    `terms` are the partner's own or those of their `group` of partners, null where the program's apply; so is
    `minimum_payout_cents`.
    """

    id: int
    created_at: datetime
    name: Annotated[Untrusted, Column("Partner", sorts=True)]
    code: Untrusted
    email: str | None
    status: Annotated[PartnerStatus, Column("Status")]
    open_flags: Annotated[int, Column(sql=_open_flags)]
    notes: Annotated[str | None, Column(is_internal=True)]
    minimum_payout_cents: int | None
    group: Annotated[Untrusted | None, Column(sql=partners.c.partner_group)]
    terms_version: Annotated[int | None, Column(is_internal=True)]
    clicks: Annotated[int, _figure("Clicks", "clicks")]
    leads: Annotated[int, _figure("Leads", "leads")]
    conversions: Annotated[int, _figure("Customers", "conversions")]
    revenue_cents: Annotated[int, _figure("Revenue", "revenue_cents")]
    commission_cents: Annotated[int, _figure("Commission", "commission_cents")]
    to_pay_cents: Annotated[int, Column("To pay", balances.to_pay_cents(), sorts=True, is_summed=True)]
    program_id: Annotated[int, Column(is_internal=True)]
    balance: balances.Balance = balances.Balance()
    link: str = ""
    terms: PartnerTerms | None = None


def has(text: str) -> ColumnElement[bool]:
    """Return the condition for the partners with a text in their name, code or e-mail address."""
    row = partners.c
    return or_(*(contains(column, text) for column in (row.name, row.code, row.email)))


def named(program_id: int, text: str) -> Select[Any]:
    """Return the statement that reads the ids of the partners who have a text."""
    return select(partners.c.id).where(partners.c.program_id == program_id, has(text))


def _finish(connection: Connection, scope: ListScope, rows: list[Partner]) -> list[Partner]:
    owed = balances.of_partners(connection, scope.program_id, [row.id for row in rows], at=scope.at)
    domain = connection.execute(select(programs.c.domain).where(programs.c.id == scope.program_id)).scalar_one()
    start = f"{site_url(domain)}/?aff="
    term, versions = commission_terms.c, {each.terms_version for each in rows}
    special = select(commission_terms).where(term.program_id == scope.program_id, term.version.in_(versions))
    found = connection.execute(special)
    terms: dict[int | None, PartnerTerms] = {each.version: PartnerTerms.of(explained_terms(each)) for each in found}
    return [
        row._replace(balance=owed[row.id], link=start + quote(row.code, safe=""), terms=terms.get(row.terms_version))
        for row in rows
    ]


def _skips(connection: Connection, scope: ListScope) -> frozenset[str]:
    """Return what to pay, unless the ledger is short enough to be read whole."""
    entry = ledger_entries.c
    further = select(entry.id).where(entry.program_id == scope.program_id).offset(MOST_ROWS).limit(1)
    return frozenset() if connection.execute(further).first() is None else frozenset({"to_pay_cents"})


_is_owed = func.coalesce(balances.to_pay_cents(), 0) > 0
_is_idle = func.coalesce(_brought.c.clicks, 0) == 0
PARTNERS = List(
    "partners",
    Partner,
    partners,
    theirs=Theirs(partners.c.id, "id created_at name code email status balance link terms"),
    source=partners.outerjoin(_brought, _brought.c.partner_id == partners.c.id),
    filters=(
        Filter("status", PartnerStatus, "active, paused or inactive.", partners.c.status.__eq__, "Status"),
        Filter("group", str, "Only those of this group of partners.", partners.c.partner_group.__eq__),
        Filter("to_pay", bool, "Only those who are to be paid now.", _is_owed.is_, "To pay", is_for_pages=True),
        Filter("idle", bool, "Only those without a click in the period.", _is_idle.is_, "No click", is_for_pages=True),
    ),
    finds="Name, code or e-mail address",
    search=lambda _, text: has(text),
    finish=_finish,
    skips=_skips,
    has_window=True,
)


def ids_of_name(connection: Connection, program_id: int, name: str) -> list[int]:
    """Return the ids of the partners with this code, else those with this name, in any case; a few at most."""
    for column in (partners.c.code, partners.c.name):
        mine = (partners.c.program_id == program_id, func.lower(column) == name.lower())
        found = select(partners.c.id).where(*mine).order_by(partners.c.id).limit(MOST_OF_A_NAME)
        ids = list(connection.execute(found).scalars())
        if ids:
            return ids
    return []


def newest_code(connection: Connection, program_id: int) -> str | None:
    """Return the code of the newest active partner, for examples; None without one."""
    row = partners.c
    active = select(row.code).where(row.program_id == program_id, row.status == PartnerStatus.ACTIVE)
    return connection.execute(active.order_by(row.id.desc()).limit(1)).scalar()
