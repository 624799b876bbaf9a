"""Read the ECB's euro reference rates from both files: a day's eurofxref.csv, or eurofxref-hist.csv."""

import csv
import re
from datetime import date, datetime
from decimal import Decimal

_CODE = re.compile(r"[A-Z]{3}")
_RATE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_ABSENT = {"", "N/A"}


def parse(content: bytes) -> list[tuple[date, str, str]]:
    """Return (day, currency, units for one euro as text) of every rate. Raises ValueError naming the line."""
    try:
        rows = list(csv.reader(content.decode("utf-8-sig").splitlines()))
    except (UnicodeDecodeError, csv.Error):
        raise ValueError("This is not a CSV file. If it is the ECB's zip archive, unzip it first.") from None
    header = [name.strip() for name in rows[0]] if rows else []
    codes = header[1:-1] if header and not header[-1] else header[1:]
    if not header or header[0] != "Date" or not codes or not all(_CODE.fullmatch(code) for code in codes):
        raise ValueError("Line 1 must be the ECB's header: Date, USD, JPY, ...")
    rates: dict[tuple[date, str], str] = {}
    for line, row in enumerate(rows[1:], start=2):
        cells = [cell.strip() for cell in row]
        if any(cells):
            day = _day(cells[0], line)
            if len(cells) <= len(codes):
                raise ValueError(f"Line {line} has fewer columns than the header.")
            for code, cell in zip(codes, cells[1:], strict=False):
                if cell not in _ABSENT:
                    if not _RATE.fullmatch(cell) or not Decimal(cell):
                        raise ValueError(f"Line {line}: {cell!r} is not a rate for {code}.")
                    rates[day, code] = cell
    if not rates:
        raise ValueError("The file has no rates.")
    return [(day, code, rate) for (day, code), rate in rates.items()]


def _day(cell: str, line: int) -> date:
    for shape in ("%Y-%m-%d", "%d %B %Y"):
        try:
            return datetime.strptime(cell, shape).date()  # noqa: DTZ007 - a day, not a timestamp
        except ValueError:
            continue
    raise ValueError(f"Line {line}: {cell!r} is not a date such as 2026-11-20 or 20 November 2026.")
