"""The currencies that a form offers, by code, with their names."""

from functools import cache

from babel.numbers import get_currency_name

from storage.tracking import currencies


def options(chosen: str) -> list[tuple[str, str]]:
    """Return each currency's code and the text of its option; a chosen code that is none of them comes last."""
    return _all() + ([(chosen, chosen)] if chosen and chosen not in currencies.current() else [])


@cache
def _all() -> list[tuple[str, str]]:
    first = ("USD", "EUR", "GBP")
    others = sorted(currencies.current() - set(first))
    return [(code, f"{code} · {get_currency_name(code, locale='en')}") for code in (*first, *others)]
