"""Payouts: what partners are due and why some are not paid now, the runs, every payment, and the page of a run."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from presentation import payouts
from presentation.payout_documents import PROVIDERS, read_batch
from presentation.payout_files.provider import reference_of, total
from storage.access.workspaces import PAYERS
from storage.lists.find import EARNED_UNTIL
from storage.lists.payables import PAYABLES
from storage.lists.payouts import PAYOUT_LINES, PAYOUTS, Payout
from storage.reports.payments import read_checks, read_summary
from storage.rules.errors import ValidationError
from storage.rules.payout import REOPENED_WITHIN, PayoutState, end_of_last_month
from storage.rules.periods.period import Window, custom
from tracking_api.dashboard import mail
from tracking_api.dashboard.pages.buttons import QUESTIONS, Button, FormPage
from tracking_api.dashboard.pages.lists import ListPage, ListState
from tracking_api.dashboard.pages.page_context import PageContext

PATH = "/programs/{program_id}/payouts"
RUN = PATH + "/{payout_id}"
ROWS = 40  # of a page, whose cells are longer than those of other lists: it has 40 KB at most


def _last_day(address: Mapping[str, str], at: datetime) -> date:
    """Return the last day of what the list shows and a draft of it pays: last month's, unless the URL has another."""
    sent = address.get(EARNED_UNTIL)
    return min(custom(sent, sent).last, at.date()) if sent else end_of_last_month(at)


async def _due(context: PageContext, state: ListState) -> dict[str, Any]:
    day = _last_day(state.address, context.at)
    summary = await context.read(read_summary, day, at=context.at)
    return {"day": day, "today": context.at.date(), "summary": summary}


PAYABLE_LIST = ListPage(
    PAYABLES,
    "payouts.html",
    tabs=(EARNED_UNTIL,),
    narrow=lambda address, at: {EARNED_UNTIL: Window(day := _last_day(address, at), day).span.until},
    values=_due,
    sort="to_pay",
    limit=ROWS,
)
DRAFT = FormPage(PAYABLE_LIST.page, Button(payouts.draft_payout, then=PATH + "/{id}"), roles=PAYERS)
RUN_LIST = ListPage(PAYOUTS, "payout_runs.html")
PAYMENT_LIST = ListPage(PAYOUT_LINES, "payout_payments.html", days=("paid",), row_day="drafted", limit=ROWS)


async def _run(context: PageContext, _: ListState) -> dict[str, Any]:
    """Return a run, its files with what each leaves out, and what to check before it is sent. Raises NotFound."""
    payout: Payout = await context.get(PAYOUTS, "payout_id")
    is_draft = payout.state == PayoutState.DRAFT
    return {
        "payout": payout,
        **(await _files(context) if context.actor.may_pay and payout.state != PayoutState.DISCARDED else {"files": []}),
        "checks": await context.read(read_checks, payout.id, at=context.at) if is_draft else None,
        "stored": {
            "paid_on": context.at.date().isoformat(),
            "reference": payout.reference or reference_of(context.program.name, payout.created_at.date()),
        },
        "can_reopen": payout.sent_at is not None and context.at - payout.sent_at <= REOPENED_WITHIN,
        "sends_mail": mail.is_on(context.request),
    }


async def _files(context: PageContext) -> dict[str, Any]:
    """Return the run's files: the provider, how many payments, their sum, and how many it leaves, by reason."""
    try:
        batch = await read_batch(context)
    except ValidationError as rejection:
        return {"files": [], "unreadable": rejection.text}
    taken = [(provider, *provider.taken(batch)) for provider in PROVIDERS.values()]
    return {"files": [(provider, len(batch.payments), total(batch), left) for provider, batch, left in taken]}


RUN_LINES = ListPage(PAYOUT_LINES, "payout_run.html", values=_run, limit=ROWS)
RUN_ACTIONS = {
    "send": Button(payouts.send_payout, then=RUN),
    "discard": Button(payouts.discard_payout, {}, "payout-discarded", PATH, QUESTIONS["discard-payout"]),
    "confirm": Button(payouts.confirm_payout, {}, "payout-confirmed", RUN),
    "reopen": Button(payouts.reopen_payout, {}, "payout-reopened", RUN, QUESTIONS["reopen-payout"]),
    "correct": Button(payouts.correct_payout_line, {}, "payment-returned", RUN, QUESTIONS["payment-returned"]),
}
RUN_FORMS = FormPage(RUN_LINES.page, RUN_ACTIONS, roles=PAYERS)
