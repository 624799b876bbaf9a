"""The pages of one customer and of one commission: totals, story, why credited, arithmetic and ledger."""

from datetime import timedelta

import httpx

from storage.management import commission_details, commissions, program_settings
from storage.reading import customer_timelines
from storage.tracking.ledger import EntryKind
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.tracking_api.dashboard.reading import words
from tests.world import NOW


async def shown(olga: httpx.AsyncClient, path: str) -> str:
    page = await olga.get(f"/programs/1{path}")
    assert page.status_code == 200
    return words(page.text)


async def test_a_customer_has_totals_a_story_in_order_and_the_reasons_of_each_sale(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    acme = dashboard.acme
    await acme.customer(at=NOW - timedelta(days=3))
    await acme.sale()
    await acme.sale("inv-2", 5_000, occurred_at=NOW - timedelta(days=1))
    await acme.refund("inv-2")
    [customer] = (await acme.store.read(customer_timelines.list_customers, acme.program_id)).data

    page = await shown(olga, f"/customers/{customer.id}")
    refunded = await shown(olga, f"/customers/{customer.id}?transaction_id=inv-2")
    foreign = await shown(olga, f"/customers/{customer.id}?transaction_id=inv-9")

    for total in ("Revenue $100.00", "Paid sales 1", "Refunded $50.00", "Commission $20.00"):
        assert total in page
    story = page.partition("Story")[2]
    order = [story.index(each) for each in ("Click", "Lead", "inv-2", "inv-1")]
    assert order == sorted(order)
    assert "2 days later" in story
    assert "Reported May 20, 2026" in story
    assert "Why sale inv-2 is not credited" in refunded
    assert "Why sale inv-9" not in foreign
    assert "The first sale came within 60 days of the click." in page


async def test_a_commission_shows_its_arithmetic_the_terms_that_priced_it_and_its_ledger(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    acme = dashboard.acme
    await acme.customer()
    await acme.sale()
    await dashboard.patch(".", commission_rate=50)
    await acme.refund("inv-1", 2_500)
    [commission] = (await acme.store.read(commissions.list_commissions, acme.program_id)).data

    page = await shown(olga, f"/commissions/{commission.id}")
    details = await acme.store.read(commission_details.get_details, acme.program_id, commission.id)

    assert "20% of $100.00 = $20.00" in page
    assert "Taken back -$5.00" in page
    assert "Worth now $15.00" in page
    assert "Terms of version 1" in page
    assert "Taken back by a refund -$5.00" in page
    assert "on hold" in page
    entries = [(entry.kind, entry.amount_cents) for entry in details.entries]
    assert entries == [(EntryKind.COMMISSION, 2_000), (EntryKind.REVERSAL, -500)]
    assert details.terms.rate == 2_000
    assert (await acme.store.read(program_settings.get_program, acme.program_id)).settings.rate == 5_000


async def test_a_commission_of_a_lead_has_no_sale_to_compute(dashboard: Dashboard, olga: httpx.AsyncClient):
    acme = dashboard.acme
    await dashboard.patch(".", lead_commission_cents=300)
    await acme.customer()
    [commission] = (await acme.store.read(commissions.list_commissions, acme.program_id)).data

    page = await shown(olga, f"/commissions/{commission.id}")

    assert "Lead $3.00 for each settled lead" in page
    assert "Terms of version 2" in page
