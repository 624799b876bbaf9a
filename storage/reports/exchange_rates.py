"""The exchange rates that a program needs: those of its currency and of the currencies of its rejected sales."""

from datetime import date
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from storage.lists.payment_events import CURRENCY
from storage.lists.programs import read_program
from storage.rules.errors import CurrencyNotSupported
from storage.tables import currency_rates, payment_events, refused_calls

EURO = "EUR"  # the rates are those of one euro


class NeededRate(NamedTuple):
    """A currency: how many sales in it were rejected in the last 30 days, and the day of its newest rate."""

    currency: str
    rejected: int
    newest: date | None

    @property
    def is_missing(self) -> bool:
        """Return whether amounts cannot be converted from or to the currency."""
        return self.newest is None and self.currency != EURO


def list_rates(connection: Connection, program_id: int) -> list[NeededRate]:
    """Return the program's currency, then those in which sales were rejected. Raises NotFound."""
    own = read_program(connection, program_id).settings.currency
    call, event, code = refused_calls.c, payment_events.c, CurrencyNotSupported.code
    calls = select(call.currency, func.count()).where(call.program_id == program_id, call.code == code)
    events = select(CURRENCY, func.count()).where(event.program_id == program_id, event.outcome == code)
    rejected: dict[str, int] = {own: 0}
    for counted, name in ((calls, call.currency), (events, CURRENCY)):
        for currency, count in connection.execute(counted.where(name.is_not(None)).group_by(name)):
            rejected[currency] = rejected.get(currency, 0) + count
    rate = currency_rates.c
    days = select(rate.currency, func.max(rate.day)).where(rate.currency.in_(list(rejected))).group_by(rate.currency)
    newest: dict[str, date] = dict(connection.execute(days).all())
    return [NeededRate(currency, count, newest.get(currency)) for currency, count in rejected.items()]
