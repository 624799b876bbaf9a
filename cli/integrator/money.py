"""Amounts as people read them. Babel would do it, at 30 MB, ten times the rest of an integrator's `svc`."""

from decimal import Decimal

SYMBOLS = {"EUR": "€", "GBP": "£", "JPY": "¥", "USD": "$"}
_DIGITS = {
    0: "ADP AFN ALL BIF BYR CLP DJF ESP GNF IQD IRR ISK ITL JPY KMF KPW KRW LAK LBP LUF MGA MGF MMK MRO PYG RSD RWF "
    "SLL SOS STD SYP TMM TRL UGX UYI VND VUV XAF XOF XPF YER ZMK ZWD",
    3: "BHD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
DIGITS = {code: digits for digits, codes in _DIGITS.items() for code in codes.split()}


def money(minor_units: int, currency: str) -> str:
    """Return an amount such as $49.00 or CHF 49.00."""
    digits = DIGITS.get(currency, 2)
    number = f"{abs(Decimal(minor_units).scaleb(-digits)):,.{digits}f}"
    return f"{'-' if minor_units < 0 else ''}{SYMBOLS.get(currency, f'{currency} ')}{number}"
