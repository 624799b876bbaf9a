"""What is recorded: customers and why their sales are credited or not, events, rejected calls, and the audit log."""

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from babel.dates import format_timedelta
from markupsafe import Markup

from presentation.api_request import ApiRequest
from presentation.changes import credit_sale, move_customer
from presentation.resources import IDENTIFIERS
from storage.access.workspaces import DECIDERS
from storage.diagnosis.explanation import Explanation, explain
from storage.diagnosis.facts import Subject
from storage.lists import audit_log, declaration, events, rejected_calls
from storage.lists import customers as listed_customers
from storage.lists.commissions import Commission
from storage.lists.event_kinds import Event, EventKind
from storage.lists.find import find
from storage.lists.partners import PARTNERS
from storage.management import by_hand, partners
from storage.rules import errors
from tracking_api.dashboard.pages import page_context, text
from tracking_api.dashboard.pages.buttons import QUESTIONS, Button, FormOutcome, FormPage, Question, drawn
from tracking_api.dashboard.pages.lists import ListPage, ListState

CUSTOMER_LIST = ListPage(listed_customers.CUSTOMERS, "customers.html")
EXAMPLES = 5
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(Z|[+-]\d\d:\d\d)$")


async def _customer(context: page_context.PageContext, outcome: FormOutcome) -> dict[str, Any]:
    """Show one customer, and the explanation of their newest sale or of the one that is named. Raises NotFound."""
    customer_id = context.path_id("customer_id")
    customer, steps = await context.storage.report(listed_customers.get_timeline, context.scope, customer_id)
    sales = [step for step in steps if isinstance(step, Event) and step.kind == EventKind.SALE]
    earned = [step for step in steps if isinstance(step, Commission)]
    key = "customer_key" if customer.customer_key else "click_id"
    subject = {key: customer.customer_key or customer.click_id}
    named = context.request.query_params.get("transaction_id")
    if named and named in {sale.transaction_id for sale in sales}:
        subject = {"transaction_id": named}
    explained = await context.report(explain, Subject(**subject), at=context.at)
    return {
        "typed": {"partner_id": "", "past": partners.Past.STAY, **outcome.typed},
        "partners": await partner_options(context) if context.role in DECIDERS else [],
        "customer": customer,
        "steps": [(step, listed_customers.occurred_at(step)) for step in steps],
        "later": lambda passed: (
            f"{format_timedelta(passed, locale='en')} later" if passed >= timedelta(seconds=1) else ""
        ),
        "paid": sum(sale.refunded_cents != sale.amount_cents for sale in sales),
        "commission_cents": sum(each.net_cents for each in earned),
        "earning": [each.sale_id for each in earned],
        "explanation": explained,
    }


async def _sums(calls: Sequence[ApiRequest]) -> Question:
    """Return what is asked before a customer moves, with what moves with them."""
    [call] = calls
    moved = "move-customer-and-commissions" if call.named.get("past") == partners.Past.MOVE else "move-customer"
    return QUESTIONS[moved]._replace(commissions=await call.read(partners.count_past, call.path_id("customer_id")))


async def _missing_sale(context: page_context.PageContext, outcome: FormOutcome) -> dict[str, Any]:
    sent = context.request.query_params
    subject = {name: sent[name] for name in IDENTIFIERS if sent.get(name)} or {"transaction_id": ""}
    explained = await context.report(explain, Subject(**subject), at=context.at)
    likely, likely_key = explained, explained.likely_customer_key
    if likely_key:
        likely = await context.report(explain, Subject(customer_key=likely_key), at=context.at)
    facts = {each.step: each.facts or {} for each in likely.steps}
    call = next((each for each in explained.rejected_calls if each.call == "sale"), None)
    partner, click = (facts.get(name, {}) for name in ("partner", "click"))
    price = None
    with suppress(errors.ServiceError):  # it cannot be said what it would earn
        if call and call.amount_cents:
            about: dict[str, Any] = {"currency": call.currency or context.currency, "at": call.occurred_at or call.at}
            about["partner_id"] = partner.get("partner_id")
            price = await context.read(by_hand.price, amount_cents=call.amount_cents, **about)
    likely_ids = {"partner_id": str(partner.get("partner_id", "")), "click_id": click.get("click_id", "")}
    return {
        "typed": {**_reported(call, explained, context.currency), **likely_ids, **outcome.typed},
        "explanation": explained,
        "call": call,
        "likely": likely,
        "facts": facts,
        "click": click,
        "price": price,
        "partners": await partner_options(context),
        "subject": subject,
    }


def _reported(call: rejected_calls.RejectedCall | None, explained: Explanation, currency: str) -> dict[str, str]:
    """Return what the form has of the sale: what its newest rejected call reported."""
    known = {"transaction_id": explained.transaction_id or "", "customer_key": explained.subject.customer_key or ""}
    if call is None:
        return known | {"amount": "", "currency": currency, "occurred_at": ""}
    known |= {name: value for name in known if (value := getattr(call, name))}
    said = call.currency or currency
    amount = str(text.major(call.amount_cents, said)) if call.amount_cents else ""
    return known | {"amount": amount, "currency": said, "occurred_at": (call.occurred_at or call.at).isoformat()}


async def partner_options(context: page_context.PageContext) -> list[tuple[str, str]]:
    """Return the options of a choice of a partner, by name."""
    query = declaration.ListQuery(declaration.MOST, order=declaration.Order("name", is_ascending=True))
    found = await context.storage.read(find, PARTNERS, context.scope, query)
    return [("", "Choose a partner"), *((str(each.id), f"{each.name} ({each.code})") for each in found.data)]


CREDIT = Button(credit_sale, then="/programs/{program_id}/commissions/{id}")
MISSING_SALE = FormPage(drawn("missing_sale.html", _missing_sale), CREDIT, roles=DECIDERS)
PAGE = FormPage(drawn("customer.html", _customer), Button(move_customer, question=_sums), roles=DECIDERS)


async def _causes(context: page_context.PageContext, state: ListState) -> dict[str, Any]:
    """Return every cause with its latest calls; the page shows them without a search and a period."""
    code = state.query.filters["code"]
    grouped = await context.storage.report(rejected_calls.grouped, context.scope, limit=EXAMPLES, code=code)
    groups = [
        (cause, errors.BY_CODE.get(cause.code), state._replace(listed=calls), calls.next_cursor is not None)
        for cause, calls in grouped
    ]
    organic = await context.read(rejected_calls.count_organic, context.at - timedelta(days=30))
    return {"groups": groups, "code": code, "organic": organic}


def written(value: Any, field: str, currency: str) -> str | Markup:
    """Return a value as people read it; money and times by their field's name."""
    if isinstance(value, dict):
        parts = (f"{text.words(name)}: {written(each, name, currency)}" for name, each in value.items() if each)
        shown: str | Markup = ", ".join(parts)
    elif isinstance(value, list):
        shown = ", ".join(str(written(each, field, currency)) for each in value)
    elif isinstance(value, bool):
        shown = "yes" if value else "no"
    elif isinstance(value, int) and field.endswith("_cents"):
        shown = text.money(value, currency)
    elif isinstance(value, str) and field.endswith(("_at", "_by")) and _TIME.match(value):
        shown = text.timestamp(datetime.fromisoformat(value))
    else:
        shown = "" if value is None else text.plain(value)
    return shown


EVENT_LIST = ListPage(events.EVENTS, "events.html", part="event_list.html", tabs=("live",))
REJECTED_CALL_LIST = ListPage(rejected_calls.REJECTED_CALLS, "refused_calls.html", values=_causes)
AUDIT_LIST = ListPage(audit_log.AUDIT_LOG, "audit_log.html", constants={"written": written})
