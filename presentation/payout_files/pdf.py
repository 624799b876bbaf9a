"""A statement as PDF. Its font has Latin, Greek and Cyrillic letters; others are written in Latin ones."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import fontpkg_noto_sans
from fontTools.ttLib import TTFont
from fpdf import FPDF
from text_unidecode import unidecode

from presentation.payout_files.statement import pairs, parsed

FONT = Path(fontpkg_noto_sans.__file__).parent / "files" / "NotoSans[wdth,wght].ttf"
FAMILY, SIZE, LINE = "noto", 9, 5.5
SIZES = {"h1": 18, "h2": 13, "p": 11}
WIDTHS = {4: (28, 55, 77, 30), 5: (28, 70, 30, 32, 30)}  # of tables with so many columns, in millimetres


class _Pages(FPDF):
    """Pages whose footer has their number and the title."""

    def footer(self) -> None:
        self.set_y(-12)
        self.cell(w=0, text=f"{self.title}, page {self.page_no()} of {{nb}}", align="R")


def pdf(page: str) -> bytes:
    """Return the page of a statement as a PDF file. It takes long: run it on another thread than the event loop's."""
    statement = parsed(page)
    pages = _Pages(format="A4")
    pages.set_title(statement.findtext("head/title", ""))
    pages.set_lang("en")
    pages.add_font(FAMILY, fname=FONT)
    pages.set_font(FAMILY, size=SIZE)
    pages.add_page()
    for element in statement.iter():
        if element.tag in SIZES:
            _heading(pages, "".join(element.itertext()), SIZES[element.tag])
        elif element.tag == "dl":
            _pairs(pages, pairs(element))
        elif element.tag == "table":
            _table(pages, [["".join(cell.itertext()) for cell in row] for row in element.iter("tr")])
    return bytes(pages.output())


def _heading(pages: FPDF, text: str, size: int) -> None:
    pages.ln(3)
    pages.set_font(FAMILY, size=size)
    pages.multi_cell(w=0, text=_drawn(text), new_x="LMARGIN", new_y="NEXT", align="L")
    pages.set_font(FAMILY, size=SIZE)
    pages.ln(1)


def _pairs(pages: FPDF, named: Sequence[tuple[str, str]]) -> None:
    for name, value in named:
        pages.cell(w=50, h=LINE, text=name)
        pages.multi_cell(w=0, h=LINE, text=_drawn(value), new_x="LMARGIN", new_y="NEXT", align="L")


def _table(pages: FPDF, rows: Sequence[Sequence[str]]) -> None:
    """Draw a line for each row; what is wider than its column is cut, as the page of the statement has it whole."""
    widths = WIDTHS[len(rows[0])]
    for row in rows:
        for width, text in zip(widths, row, strict=True):
            align = "R" if width == widths[-1] else "L"
            pages.cell(w=width, h=LINE, text=_fitting(pages, _drawn(text), width), align=align, border="B")
        pages.ln()


def _fitting(pages: FPDF, text: str, width: int) -> str:
    while pages.get_string_width(text) > width - 2:
        text = f"{text[: len(text) * 9 // 10 - 1]}…"
    return text


@cache
def _letters() -> frozenset[int]:
    """Return the characters that the font has."""
    with TTFont(FONT, lazy=True) as font:
        return frozenset(font.getBestCmap())


def _drawn(text: str) -> str:
    return "".join(each if ord(each) in _letters() else unidecode(each) or "?" for each in text)
