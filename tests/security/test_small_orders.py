"""A sale of one cent does not earn a flat commission where the program names its smallest order."""

from storage.checks import books
from storage.diagnosis import explanation
from storage.engine.audit import OPERATOR
from storage.management import program_settings
from storage.rules.commission import CommissionType
from storage.rules.outcome import SaleOutcome
from storage.tables import commissions, sales
from tests.tracking_api.conftest import Api
from tests.world import NOW


async def test_a_sale_of_one_cent_is_recorded_and_earns_nothing(api: Api):
    shop = await api.beside(commission_type=CommissionType.FLAT, rate=700, minimum_order_cents=500)
    await shop.acme.customer()

    small = await shop.sale(transaction_id="small", amount_cents=1)
    large = await shop.sale(transaction_id="large", amount_cents=500)
    await shop.refund(transaction_id="large", refund_amount_cents=100)

    assert (small.status_code, small.json()["data"]["commission_id"], small.json()["data"]["commission_cents"]) == (
        200,
        None,
        0,
    )
    assert large.json()["data"]["commission_cents"] == 700
    assert (await api.count(sales), await api.count(commissions)) == (2, 1)
    assert await shop.acme.store.read(books.run) == []


async def test_the_explanation_names_the_smallest_order_of_the_day_of_the_sale(api: Api):
    shop = await api.beside(minimum_order_cents=500)
    await shop.acme.customer()
    await shop.sale(transaction_id="small", amount_cents=499)
    lower = {"minimum_order_cents": 0}
    at = NOW.replace(hour=13)
    await shop.acme.store.write(program_settings.change, shop.acme.program_id, lower, actor=OPERATOR, at=at)

    explained = await shop.acme.store.read(explanation.explain, shop.acme.program_id, at=at, transaction_id="small")

    rate = next(step for step in explained.steps if step.step == "rate")
    assert explained.outcome == SaleOutcome.BELOW_MINIMUM_ORDER
    assert rate.facts["minimum_order_cents"] == 500
