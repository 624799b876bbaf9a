"""Why a sale is not credited: one sentence, its amount, the likely partner, and the form that credits it."""

from datetime import datetime
from typing import Any, NamedTuple

from starlette.responses import Response

from presentation.changes import credit_sale
from presentation.diagnosis import SubjectView
from storage.diagnosis.explanation import Explanation, explain
from storage.lists.declaration import MOST, ListQuery, Order
from storage.lists.find import find
from storage.lists.partners import PARTNERS
from storage.management import by_hand
from storage.rules.errors import ServiceError
from tracking_api.dashboard.pages import stories, text
from tracking_api.dashboard.pages.buttons import DECIDERS, Button, FormOutcome, FormPage
from tracking_api.dashboard.pages.page_context import PageContext

COMMISSION = "/programs/{program_id}/commissions/{id}"
BY_NAME = Order("name", is_ascending=True)


class MissingSale(NamedTuple):
    """What a rejected call said of the sale; empty where no call said it."""

    transaction_id: str = ""
    customer_key: str = ""
    amount_cents: int | None = None
    currency: str = ""
    at: datetime | None = None


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    sent = context.request.query_params
    subject = {name: sent[name] for name in SubjectView.model_fields if sent.get(name)} or {"transaction_id": ""}
    explained = await context.report(explain, at=context.at, **subject)
    sale, story = _sale(explained, context), stories.of(context.program, explained)
    likely = story
    if explained.likely_customer_key:
        found = await context.report(explain, at=context.at, customer_key=explained.likely_customer_key)
        likely = stories.of(context.program, found)
    partner, click = (likely.facts.get(name) or {} for name in ("partner", "click"))
    stored = {name: str(value or "") for name, value in sale._asdict().items()}
    stored |= {"partner_id": str(partner.get("partner_id", "")), "click_id": click.get("click_id", "")}
    stored |= {"amount": "", "occurred_at": sale.at.isoformat() if sale.at else ""}
    if sale.amount_cents:
        stored["amount"] = str(text.major(sale.amount_cents, sale.currency))
    return outcome.page(
        context,
        "missing_sale.html",
        stored=stored,
        story=story,
        sale=sale,
        likely=likely,
        click=click,
        price=await _price(context, sale),
        partners=await partner_options(context),
        subject=subject,
    )


def _sale(explained: Explanation, context: PageContext) -> MissingSale:
    """Return the sale as its newest rejected call reported it."""
    named = MissingSale(explained.transaction_id or "", explained.subject.customer_key or "", None, context.currency)
    for call in explained.rejected_calls:
        if call.call == "sale":
            return MissingSale(
                call.transaction_id or "",
                call.customer_key or "",
                call.amount_cents,
                call.currency or context.currency,
                call.occurred_at or call.at,
            )
    return named


async def _price(context: PageContext, sale: MissingSale) -> Any:
    """Return what the sale would earn, and until when it is on hold; None where that cannot be said."""
    if sale.amount_cents is None or sale.at is None:
        return None
    try:
        about: dict[str, Any] = {"amount_cents": sale.amount_cents, "currency": sale.currency, "at": sale.at}
        return await context.read(by_hand.price, **about)
    except ServiceError:
        return None


async def partner_options(context: PageContext) -> list[tuple[str, str]]:
    """Return the options of a choice of a partner, by name."""
    query = ListQuery(MOST, order=BY_NAME)
    found = await context.storage.read(find, PARTNERS, context.scope, query)
    return [("", "Choose a partner"), *((str(each.id), f"{each.name} ({each.code})") for each in found.data)]


PAGE = FormPage(_page, Button(credit_sale, then=COMMISSION), who=DECIDERS)
