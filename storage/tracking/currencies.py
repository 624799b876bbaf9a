"""Currencies: their minor-unit digits, and the exchange rates loaded from the ECB."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from typing import NamedTuple

from babel import Locale
from babel.numbers import get_currency_precision, get_territory_currencies
from sqlalchemy import Connection

from storage.engine.database import insert_for
from storage.engine.statements import Statement
from storage.rules import money
from storage.rules.errors import CurrencyNotSupported
from storage.tables import currency_rates

EURO = "EUR"
_find = Statement("rate_lookup")


class Exchange(NamedTuple):
    source: str
    target: str
    day: date


@cache
def current() -> frozenset[str]:
    """Return the codes of the currencies that are legal tender somewhere today."""
    territories = map(str, Locale("en").territories)
    return frozenset(str(code) for territory in territories for code in get_territory_currencies(territory))


def require_current(code: str) -> None:
    """Raise CurrencyNotSupported for a code that is no currency of today. It needs no exchange rate."""
    if code not in current():
        raise CurrencyNotSupported(f"{code} is not a currency.", hint="Choose an ISO 4217 code such as USD or EUR.")


@lru_cache(maxsize=512)
def digits(code: str) -> int:
    """Return how many minor-unit digits a currency has: 2 for USD, 0 for JPY."""
    return int(get_currency_precision(code))


def major(cents: float, code: str) -> Decimal:
    """Return minor units as an exact number of major ones: 1234 of USD is 12.34, of JPY 1234."""
    return Decimal(str(cents)).scaleb(-digits(code))


class Rates:
    """The exchange rates that a batch needs, loaded by one statement."""

    def __init__(self, connection: Connection, exchanges: Iterable[Exchange]) -> None:
        converted = (each for each in exchanges if each.source != each.target)
        codes = ((code, each.day.isoformat()) for each in converted for code in (each.source, each.target))
        needed = {each for each in codes if each[0] != EURO}
        rows = _find(connection, [(code, day, day) for code, day in sorted(needed)]) if needed else ()
        known = (row for row in rows if row.per_euro is not None)
        self._per_euro = {(row.currency, date.fromisoformat(row.day)): Fraction(row.per_euro) for row in known}

    def convert(self, cents: int, exchange: Exchange) -> int:
        """Return minor units of the target, by the newest rate on or before the day. Raises CurrencyNotSupported."""
        source, target, day = exchange
        if source == target:
            return cents
        rates = [Fraction(1) if code == EURO else self._per_euro.get((code, day)) for code in (target, source)]
        if rates[0] is None or rates[1] is None:
            raise CurrencyNotSupported(f"No exchange rate between {source} and {target} is loaded for {day} or before.")
        rate = rates[0] / rates[1]
        return money.convert(cents, rate=rate, from_digits=digits(source), to_digits=digits(target))


def convert(connection: Connection, cents: int, exchange: Exchange) -> int:
    """Return one amount converted, as `Rates.convert` does. Raises CurrencyNotSupported."""
    return Rates(connection, [exchange]).convert(cents, exchange)


def load(connection: Connection, rates: Iterable[tuple[date, str, str]]) -> int:
    """Store rates (day, currency, units for one euro as decimal text), replacing those of the same days; count them."""
    rows = [{"day": day, "currency": code, "per_euro": str(per_euro)} for day, code, per_euro in rates]
    statement = insert_for(connection)(currency_rates)
    new_rate = {"per_euro": statement.excluded.per_euro}
    replacing = statement.on_conflict_do_update(index_elements=["currency", "day"], set_=new_rate)
    if rows:
        connection.execute(replacing, rows)
    return len(rows)
