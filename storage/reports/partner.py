"""One partner, in one read: results, balance, links in use, customers, commissions and flags."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.engine.pagination import Page, Paging
from storage.management import balances, commissions, flags, partners
from storage.management.balances import PartnerBalance
from storage.management.commissions import Commission
from storage.management.flags import Flag
from storage.management.partners import Partner
from storage.reading import customer_timelines
from storage.reading.customer_timelines import CustomerFilter, CustomerRecord
from storage.reports import breakdown, chart
from storage.reports.chart import MOST_EVENTS, Results
from storage.rules.errors import ValidationError
from storage.rules.fraud.flag import FlagState
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports.breakdown import BreakdownQuery, Dimension, GroupTotals, Metric

NEWEST = Paging(5)
MOST_LINKS = 10
_LINK = (Dimension.LANDING_PATH, Dimension.CAMPAIGN)


class UsedLink(NamedTuple):
    """A link that visitors followed: its page and its campaign (None: it has none), and what it brought."""

    path: str
    campaign: str | None
    totals: GroupTotals


class PartnerProfile(NamedTuple):
    """A partner's page; customers and commissions are the newest, `links` those with the most clicks in the range."""

    partner: Partner
    results: Results
    balance: PartnerBalance
    links: list[UsedLink]
    customers: Page[CustomerRecord]
    commissions: Page[Commission]
    flags: Page[Flag]


def get_profile(
    connection: Connection,
    program_id: int,
    partner_id: int,
    query: DateRangeQuery,
    *,
    at: datetime,
    before: Window | None = None,
) -> PartnerProfile:
    """Return a partner's page for a range. Raises NotFound, and the errors of `performance.get_report`."""
    partner = partners.get_partner(connection, program_id, partner_id)
    sent = CustomerFilter(partner_id=partner_id)
    return PartnerProfile(
        partner,
        chart.get_results(connection, program_id, query, at=at, before=before, partner=partner),
        balances.of_partners(connection, program_id, [partner_id], at=at)[partner_id],
        _links(connection, partner, query, at),
        customer_timelines.list_customers(connection, program_id, NEWEST, sent),
        commissions.list_commissions(connection, program_id, NEWEST, partner_id=partner_id),
        flags.list_flags(connection, program_id, NEWEST, state=FlagState.OPEN, partner_id=partner_id),
    )


def _links(connection: Connection, partner: Partner, query: DateRangeQuery, at: datetime) -> list[UsedLink]:
    """Return the links in use; none if the range has too many events to read."""
    wanted = BreakdownQuery(_LINK, {Dimension.PARTNER: partner.code}, tuple(Metric), Metric.CLICKS, MOST_LINKS)
    try:
        read = breakdown.get_breakdown(connection, partner.program_id, query, wanted, at=at, most_events=MOST_EVENTS)
    except ValidationError:
        return []
    return [
        UsedLink(path, campaign, group.totals)
        for group in read.groups
        if (path := group.values[0])
        for campaign in group.values[1:]
    ]
