"""Review: the signs of fraud with their evidence, which owners dismiss or confirm."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import path_id
from storage.management import flag_decisions
from storage.management.flags import Flag
from storage.reading import listed_flags
from storage.rules.errors import ValidationError
from storage.rules.fraud.flag import FlagState
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import (
    confirmation,
    csv_export,
    filters,
    forms,
    lists,
    notices,
    page_context,
    templates,
)
from tracking_api.dashboard.pages.confirmation import Question
from tracking_api.dashboard.pages.csv_export import Read
from tracking_api.dashboard.pages.lists import Column, List, ListState
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext

LONGEST_REASON = 512
DECISIONS = {FlagState.DISMISSED: "flag-dismissed", FlagState.CONFIRMED: "flag-confirmed"}
VERBS = {FlagState.DISMISSED: "Dismiss and release", FlagState.CONFIRMED: "Confirm and reject"}
MEANINGS = {
    FlagState.DISMISSED: "The commissions can be approved and paid, unless another sign of fraud holds them. This sign"
    " is not raised again for the same evidence.",
    FlagState.CONFIRMED: "The partner does not get this money. What is paid stays paid.",
}


LIST = List(
    "Review",
    (
        Column("kind", "Kind", sort="kind"),
        Column("partner", "Partner", sort="partner"),
        Column("customer", "Customer key", sort="customer"),
    ),
    search="Partner or customer key",
    kept=("partner_id",),
    tabs=("state",),
)
HEADER = [
    *("id", "created_at", "kind", "state", "reason", "partner", "partner_code", "customer_key", "commission_id"),
    *("held_from", "evidence", "decided_at", "decided_by", "decision_reason"),
]


async def list_flags(request: Request) -> Response:
    """List the open flags, or those of another state."""
    context = await page_context.as_member(request)
    state = lists.state(request, LIST)
    listed = await _read(request, context, state)(state.query)
    return templates.render(request, "review.html", context=context, list=state.holding(listed))


async def export_flags(request: Request) -> Response:
    """Return the flags of the filtered list as a CSV file."""
    context = await page_context.as_member(request)
    name = f"review-{context.program.id}-{context.at:%Y-%m-%d}"
    return csv_export.file(name, _read(request, context, lists.state(request, LIST)), HEADER, _cells)


async def decide_flag(request: Request) -> Response:
    """Dismiss a flag, or confirm it. Raises NotFound, ValidationError for another decision."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    state = {each.value: each for each in DECISIONS}.get(form.text("state"))
    reason = form.text("reason")
    if state is None or len(reason) > LONGEST_REASON:
        raise ValidationError("Dismiss or confirm the sign of fraud, with a reason of at most 512 characters.")
    flag_id, path = path_id(request, "flag_id"), f"{context.program_path}/review"
    if not confirmation.is_given(form):
        held = await storage_of(request).read(flag_decisions.count_held, context.program.id, flag_id)
        meaning, is_danger = f"{MEANINGS[state]} You cannot undo this.", state == FlagState.CONFIRMED
        question = Question(VERBS[state], meaning, path, commissions=held, is_danger=is_danger)
        return confirmation.ask(request, form, question, context=context)
    await page_context.change(request, context, flag_decisions.decide, flag_id, state, reason=reason or None)
    return notices.leave(redirect(path), DECISIONS[state])


def _read(request: Request, context: PageContext, state: ListState) -> Read[Flag]:
    match: dict[str, Any] = {
        "state": filters.choice(request, "state", FlagState) or FlagState.OPEN,
        "partner_id": filters.number(request, "partner_id"),
        "search": state.search,
        "span": state.span,
    }
    read = storage_of(request).read
    return lambda query: read(listed_flags.read, context.program.id, query, **match)


def _cells(each: Flag) -> list[object]:
    return [
        *(each.id, each.created_at, each.kind, each.state, each.reason, each.partner_name, each.partner_code),
        *(each.customer_key, each.commission_id, each.held_from, json.dumps(each.evidence)),
        *(each.decided_at, each.decided_by, each.decision_reason),
    ]
