"""A partner's statement for a payout as people read it: once as text, shown as HTML and as PDF (pdf.py)."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from babel.dates import format_date
from babel.numbers import format_currency
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from storage.reports.statements import PartnerStatement
from storage.rules.payout import LineState
from storage.tracking import currencies
from storage.tracking.ledger import EntryKind

LONGEST = 200
LOCALE = "en_US"
KINDS = {
    EntryKind.REVERSAL: "Refund of a sale that was paid",
    EntryKind.REINSTATEMENT: "A dispute was won",
    EntryKind.ADJUSTMENT: "Bonus or correction",
}
COMMISSIONS = ("Earned", "Sale", "Commission", "Refunded", "Paid")
ENTRIES = ("Day", "What", "About", "Amount")
_environment = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
)


class StatementText(NamedTuple):
    """A statement in words: facts and totals are pairs of a name and a value, tables have a title, columns and rows."""

    title: str
    notes: Sequence[str]
    facts: Sequence[tuple[str, str]]
    tables: Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]]
    totals: Sequence[tuple[str, str]]


def written(statement: PartnerStatement) -> StatementText:
    """Return a statement in words; what strangers wrote is cut and has no control characters."""
    line, currency = statement.line, statement.program.currency

    def money(cents: int) -> str:
        return format_currency(currencies.major(cents, currency), currency, locale=LOCALE)

    earned = [
        (
            *(_day(each.earned_at.date()), _plain(each.transaction_id or f"lead {each.id}")),
            *map(money, (each.amount_cents, -each.refunded_cents, each.net_cents)),
        )
        for each in statement.commissions
    ]
    if (more := line.commissions - len(earned)) > 0:
        cents = line.approved_cents - sum(each.net_cents for each in statement.commissions)
        earned.append(("", f"{more:,} older commissions", "", "", money(cents)))
    entries = [
        (_day(each.at.date()), KINDS[each.kind], _plain(each.transaction_id or each.reason or ""), money(each.cents))
        for each in statement.entries
    ]
    if statement.carried_cents:
        entries.append(("", "Carried over from earlier payouts", "", money(statement.carried_cents)))
    totals = [
        ("Commissions", money(line.approved_cents)),
        ("Set off", money(-line.set_off_cents)),
        ("Bonuses and corrections", money(line.adjusted_cents)),
        ("Fees", f"{money(0)} (none are taken from partners)"),
        ("Paid", money(line.to_pay_cents)),
    ]
    tables = (("Commissions", COMMISSIONS, earned), ("Since the statement before", ENTRIES, entries))
    return StatementText(f"Statement {statement.number}", _notes(statement), _facts(statement), tables, totals)


def html(statement: PartnerStatement) -> str:
    """Return a statement as a page of its own, without scripts."""
    return _environment.get_template("statement.html").render(written(statement)._asdict())


def _notes(statement: PartnerStatement) -> list[str]:
    notes = []
    if statement.line.state == LineState.OPEN:
        notes.append("This payout was reopened: it is not paid.")
    if statement.line.state == LineState.FAILED:
        notes.append(f"This payment failed: {_plain(statement.line.failure or '')}")
    if statement.corrected is not None:
        notes.append(f"This payment came back, and its amount is in the balance again: {_plain(statement.corrected)}")
    return notes


def _facts(statement: PartnerStatement) -> list[tuple[str, str]]:
    line, program = statement.line, statement.program
    paid_by = f"{line.method} {line.method_masked or ''}" if line.method else "no method on record"
    facts = {
        "From": f"{program.name} ({program.settings.domain})",
        "To": f"{line.partner_name} ({line.partner_code})",
        "E-mail": statement.partner_email,
        "Paid on": _day(line.paid_on) if line.paid_on else "not yet",
        "Paid by": paid_by,
        "Reference": line.reference,
        "Currency": program.currency,
    }
    return [(name, _plain(value)) for name, value in facts.items() if value]


def _day(day: date) -> str:
    return format_date(day, "medium", locale=LOCALE)


def _plain(text: str) -> str:
    """Return untrusted text without control, zero-width and direction characters, cut to 200 characters."""
    clean = "".join(each for each in text if each.isprintable())
    return clean if len(clean) <= LONGEST else f"{clean[: LONGEST - 1]}…"
