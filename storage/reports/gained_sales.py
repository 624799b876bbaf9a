"""Sales that came too late after their click, and that a longer window would have credited, by the live decision."""

from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from storage.engine.statements import read_statement
from storage.reports.backtest_result import CreditDifference
from storage.rules.commission import Terms
from storage.rules.draft import Draft
from storage.rules.errors import ServiceError
from storage.tables.columns import Timestamp
from storage.tracking import program_terms, sale_decisions
from storage.tracking.currencies import Rates
from storage.tracking.customers import Registry
from storage.tracking.sale_decisions import Sale

MOST_REJECTED = 5_000  # the newest; the log has those of 30 days
_LATE = read_statement("late_sales", at=Timestamp, occurred_at=Timestamp)


def find_gained(
    connection: Connection, program_id: int, draft: Draft, *, since: datetime, at: datetime
) -> list[tuple[CreditDifference, Terms]]:
    """Return the sales that a longer attribution window would have credited, without names, and their terms."""
    window_days = draft.settings.attribution_window_days
    if window_days <= draft.current.attribution_window_days or draft.partners is not None:
        return []
    about = {"program_id": program_id, "since": since, "most": MOST_REJECTED}
    rows = {row.transaction_id: row for row in connection.execute(_LATE, about)}  # the first time each was sent
    sent = [Sale(**row._asdict()) for row in reversed(rows.values())]
    late = [each for each in sent if each.happened_at >= since]
    program = program_terms.load_one(connection, program_id)
    drafted = program._replace(attribution_window_days=window_days)
    registry = Registry(connection, [(program_id, each.customer_key, each.click_id) for each in late], at=at)
    rates = Rates(connection, [sale_decisions.exchange(each, program) for each in late])
    gained = []
    for sale in late:
        named = registry.named(program_id, sale)
        buyer = sale_decisions.buyer_of(sale, program, named)
        special = buyer.customer.partner_terms if buyer else None
        then = special._replace(partner_id=buyer.customer.partner_id) if buyer and special else program.terms
        terms = draft.terms(then, then.partner_id or 0)
        priced = drafted._replace(terms_of=partial(_always, terms))
        try:
            change = sale_decisions.decide(0, sale, priced, named=named, repeats=(None, None), rates=rates)
        except ServiceError:  # it would still be rejected
            continue
        registry.change(*change.changed)
        said = (sale.happened_at, sale.amount_cents, sale.currency, 0, change.commission_cents)
        gained.append((CreditDifference(sale.transaction_id, change.customer.partner_id, "", *said), terms))
    return gained


def _always(terms: Terms, _: int) -> Terms:
    return terms
