"""`svc admin payout`: drafts payouts of a program, shows and sends them, reopens and discards them."""

from datetime import date
from typing import Annotated, Any

import typer
from rich.markup import escape

from cli.admin import command
from cli.integrator.output import Answer
from storage.lists import find
from storage.lists.declaration import MOST_ROWS, List, ListQuery, ListScope, Page
from storage.lists.payouts import PAYOUT_LINES, PAYOUTS, Payout
from storage.management import payout_returns, payout_sending, payouts
from storage.rules.commission import MOST_CENTS

app = typer.Typer(no_args_is_help=True)
PayoutId = Annotated[int, typer.Argument(min=1, metavar="ID")]


def day(value: str) -> date:
    """Return an ISO 8601 date."""
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise typer.BadParameter("Write a date, such as 2027-01-31") from None


def _failed(value: str) -> tuple[int, str]:
    line_id, _, reason = value.partition(":")
    if not (line_id.isascii() and line_id.isdigit() and reason.strip()):
        raise typer.BadParameter("Write LINE:REASON, such as 12345:the account is closed")
    return int(line_id), reason.strip()


@command.register(app, "list")
def list_payouts(program: command.ProgramId) -> Answer:
    """List a program's payouts, newest first."""
    rows = _rows(PAYOUTS, program)
    return Answer({"payouts": [each._asdict() for each in rows]}, "\n".join(map(_line, rows)) or "There is no payout.")


@command.register(app)
def draft(
    program: command.ProgramId,
    earned_until: Annotated[date | None, typer.Option(parser=day, metavar="DAY")] = None,
    minimum_cents: Annotated[int | None, typer.Option(min=0, max=MOST_CENTS)] = None,
    partner: Annotated[list[int] | None, typer.Option(min=1)] = None,
) -> Answer:
    """Draft a payout of what partners are due."""
    about: dict[str, Any] = {"earned_until": earned_until, "minimum_cents": minimum_cents, "partner_ids": partner}
    return _answer(command.change_in(payouts.draft, program, **about))


@command.register(app, "show")
def show_payout(program: command.ProgramId, payout: PayoutId) -> Answer:
    """Show a payout and its lines."""
    found: Payout = command.read(find.get, PAYOUTS, ListScope(program, command.now()), payout)
    lines = _rows(PAYOUT_LINES, program, payout_id=payout)
    texts = [
        f"  {each.id}  {escape(each.partner_name)}  {each.to_pay_cents} cents by {escape(each.method_masked or '-')}: "
        f"{each.state}{f' ({escape(each.failure)})' if each.failure else ''}"
        for each in lines
    ]
    return Answer({**found._asdict(), "lines": [each._asdict() for each in lines]}, "\n".join([_line(found), *texts]))


@command.register(app)
def send(
    program: command.ProgramId,
    payout: PayoutId,
    paid_on: Annotated[date, typer.Option(parser=day, metavar="DAY")],
    reference: Annotated[str, typer.Option(parser=command.code, metavar="TEXT")],
    failed: Annotated[list[Any] | None, typer.Option(parser=_failed, metavar="LINE:REASON")] = None,
    *,
    notify: Annotated[bool, typer.Option(help="Whether the service sends partners their statements.")] = True,
) -> Answer:
    """Say that the payments of a draft were sent, save for those that failed."""
    about: dict[str, Any] = {"paid_on": paid_on, "reference": reference, "failed": dict(failed or ()), "notify": notify}
    return _answer(command.change_in(payout_sending.send, program, payout, **about))


@command.register(app)
def reopen(program: command.ProgramId, payout: PayoutId) -> Answer:
    """Make a payout a draft again, within an hour after it was sent."""
    return _answer(command.change_in(payout_returns.reopen, program, payout))


@command.register(app)
def discard(program: command.ProgramId, payout: PayoutId) -> dict[str, Any]:
    """Discard a draft."""
    command.change_in(payouts.discard, program, payout)
    return {"payout_id": payout}


def _rows(wanted: List[Any], program: int, **filters: Any) -> list[Any]:
    query = ListQuery(limit=MOST_ROWS, filters=filters)
    page: Page[Any] = command.read(find.find, wanted, ListScope(program, command.now()), query)
    return page.data


def _answer(payout: Payout) -> Answer:
    return Answer(payout._asdict(), _line(payout))


def _line(payout: Payout) -> str:
    sent = f"sent on {payout.paid_on}, {escape(payout.reference or 'without a reference')}" if payout.sent_at else ""
    amounts = f"{payout.to_pay_cents} cents to {payout.partners} partners for {payout.commissions} commissions"
    return f"{payout.id}  {payout.state}  {amounts}  {sent}".rstrip()
