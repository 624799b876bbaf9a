"""Sales of customers whom no partner sent: a shop that reports all its sales loses nothing by them."""

from datetime import timedelta
from typing import Any

from storage.diagnosis import explanation
from storage.lists import rejected_calls
from storage.rules.outcome import SaleOutcome
from tests.tracking_api.conftest import Api
from tests.world import NOW


async def test_a_sale_of_a_customer_whom_nobody_has_heard_of_is_organic_and_no_rejected_call(api: Api):
    store, program_id = api.acme.store, api.acme.program_id
    about: dict[str, Any] = {"customer_key": "stranger", "click_id": "stranger"}
    sale, lead = await api.sale(**about), await api.lead(**about)

    causes = await store.read(rejected_calls.by_cause, program_id)
    listed = (await api.acme.listed(rejected_calls.REJECTED_CALLS)).data
    later = await store.read(rejected_calls.count_organic, program_id, NOW + timedelta(days=1))
    explained = await store.read(explanation.explain, program_id, at=NOW, transaction_id="inv-1")

    assert {each.json()["error"]["code"] for each in (sale, lead)} == {"customer_not_found"}
    assert ([each.calls for each in causes], [each.call for each in listed]) == ([1], ["lead"])
    status = await api.status()
    assert (status["refused_calls_24h"], status["organic_sales_24h"], later) == (1, 1, 0)
    assert explained.outcome == SaleOutcome.CUSTOMER_NOT_FOUND
