"""Currencies: how many digits they have, and what they cost in another, as loaded from the ECB."""

from collections.abc import Iterable
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import Any

from babel.numbers import get_currency_precision
from sqlalchemy import Connection, select

from storage.engine.database import insert_for
from storage.rules import money
from storage.rules.errors import CurrencyNotSupported
from storage.tables import currency_rates

EURO = "EUR"


@lru_cache(maxsize=512)
def digits(code: str) -> int:
    """Return how many minor-unit digits a currency has: 2 for USD, 0 for JPY."""
    return int(get_currency_precision(code))


def convert(connection: Connection, cents: int, *, source: str, target: str, day: date) -> int:
    """Return minor units of `source` in minor units of `target`, at the newest rate of the day or before it.

    A day before the first loaded rate takes the first. Raises CurrencyNotSupported when a rate is missing.
    """
    if source == target:
        return cents
    target_rate, source_rate = (_per_euro(connection, code, day) for code in (target, source))
    if target_rate is None or source_rate is None:
        raise CurrencyNotSupported(f"No exchange rate is loaded between {source} and {target}.")
    rate = target_rate / source_rate
    return money.convert(cents, rate=rate, from_digits=digits(source), to_digits=digits(target))


def load(connection: Connection, rates: Iterable[tuple[date, str, str]]) -> int:
    """Store rates (day, currency, units for one euro as decimal text), replacing what those days held; count them."""
    rows: list[dict[str, Any]] = [
        {"day": day, "currency": code, "per_euro": str(per_euro)} for day, code, per_euro in rates
    ]
    statement = insert_for(connection)(currency_rates)
    replacing = statement.on_conflict_do_update(
        index_elements=["currency", "day"], set_={"per_euro": statement.excluded.per_euro}
    )
    if rows:
        connection.execute(replacing, rows)
    return len(rows)


def _per_euro(connection: Connection, code: str, day: date) -> Fraction | None:
    if code == EURO:
        return Fraction(1)
    rate = currency_rates.c
    of_code = select(rate.per_euro).where(rate.currency == code)
    newest = of_code.where(rate.day <= day).order_by(rate.day.desc()).limit(1)
    oldest = of_code.order_by(rate.day).limit(1)
    found = connection.execute(newest).scalar() or connection.execute(oldest).scalar()
    return None if found is None else Fraction(found)
