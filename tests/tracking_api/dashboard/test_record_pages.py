"""The pages of what is recorded: a customer, a commission, events, rejected calls and the audit log."""

import re
from datetime import timedelta

import httpx

from storage.management import commission_details, commissions, program_settings
from storage.reading import customer_timelines
from storage.rules.commission import CommissionStatus
from storage.tracking.ledger import EntryKind
from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.tracking_api.dashboard.reading import words
from tests.world import HELD_SINCE, LANDING_PAGE, NOW

HOSTILE = "<img src=x onerror=alert(1)>\u202etxt.exe\u200b"
SALE = {"customer_key": "nobody", "amount_cents": 100}


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


async def test_untrusted_text_is_shown_as_text(dashboard: Dashboard, olga: httpx.AsyncClient):
    click = {"program_id": dashboard.acme.program_id, "affiliate_url": LANDING_PAGE, "page_title": HOSTILE}
    await dashboard.call("POST", "/api/v1/track/click", None, json=click, headers={"User-Agent": "Firefox"})

    page = (await olga.get(f"{dashboard.pages}/events")).text

    assert "&lt;img src=x onerror=alert(1)&gt;txt.exe" in page
    assert "<img src=x" not in page


async def test_rejected_calls_say_what_was_wrong_and_what_to_do(dashboard: Dashboard, olga: httpx.AsyncClient):
    for name in ("inv-7", "inv-8"):
        sale = SALE | {"transaction_id": name}
        assert (await dashboard.call("POST", "/api/v1/track/sale", dashboard.acme.key, json=sale)).status_code == 400

    rejected, _ = (await dashboard.get("./refused-calls", MAX)).json()["data"]
    page = words((await olga.get(f"{dashboard.pages}/refused-calls")).text)

    assert (rejected["code"], rejected["status"], rejected["transaction_id"]) == ("customer_not_found", 400, "inv-8")
    assert (rejected["amount_cents"], rejected["currency"], rejected["same_payload"]) == (100, "USD", None)
    assert rejected["hint"]
    assert (await dashboard.get("./refused-calls", code="other")).json()["data"] == []
    assert "No customer of this program" in page.partition("customer_not_found")[0]
    assert "2 calls customer_not_found" in page
    assert "Sales not recorded: $2.00 What to do:" in page
    assert page.count("$1.00") == 2


async def test_entries_name_and_link_what_they_are_about(dashboard: Dashboard, olga: httpx.AsyncClient):
    acme = dashboard.acme
    await acme.customer(at=HELD_SINCE)
    await acme.sale(at=HELD_SINCE)
    await acme.flag()
    [commission] = (await acme.store.read(commissions.list_commissions, acme.program_id)).data
    await dashboard.patch(f"./partners/{acme.ben}", name="Benjamin")
    await dashboard.patch(".", lead_commission_cents=150)
    await dashboard.patch(f"./commissions/{commission.id}", status=CommissionStatus.REJECTED)
    base = dashboard.pages

    page = (await olga.get(f"{base}/settings/audit-log")).text

    text = re.sub(r"<(?!a )[^>]+>", "", page)
    assert f'<a href="{base}/partners/{acme.ben}">Partner changed: Benjamin' in text
    assert f'<a href="{base}/commissions/{commission.id}">Commission decided: $20.00 of Anna' in text
    assert f'<a href="{base}/review">Flag raised: Shared click' in text
    assert f'<a href="{base}/settings">Program changed' in text
    assert "$1.50" in text
    assert str(commission.id) not in text.replace(f"/commissions/{commission.id}", "")
    assert f"{NOW:%b} {NOW.day}, {NOW.year}" in text
