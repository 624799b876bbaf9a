"""CSV as RFC 4180 has it; no cell is one that a spreadsheet runs as a formula."""

import re
from collections.abc import Iterable

# What starts a formula, after any space (also a no-break, ideographic or zero-width one): at the start of a cell, and
# after a semicolon, at which a spreadsheet of many countries splits the line.
_SPACE = r"[\s\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0]*"
_FORMULA = re.compile(rf"(^|;)({_SPACE})(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")
_QUOTED = re.compile(r"[\",;\s]")


def guarded(cell: str) -> str:
    """Return a text that a spreadsheet does not run as a formula: an apostrophe precedes what would start one."""
    return _FORMULA.sub(r"\1'\2", cell)


def csv_lines(cells: Iterable[Iterable[str]]) -> str:
    """Return rows as lines of the file, as RFC 4180 has them; a cell with a semicolon is quoted, too."""
    quoted = (
        ['"{}"'.format(each.replace('"', '""')) if _QUOTED.search(each) else each for each in row] for row in cells
    )
    return "".join(f"{','.join(row)}\r\n" for row in quoted)
