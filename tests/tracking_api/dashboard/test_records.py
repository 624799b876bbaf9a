"""The pages of what is recorded: a customer, a commission, rejected calls, flags, the audit log, and a partner."""

import httpx
import pytest

from storage.lists import commissions, declaration, find
from storage.lists.partners import PARTNERS
from storage.management import fraud_review
from storage.rules.errors import ValidationError
from storage.rules.fraud.flag import Finding, FlagKind
from storage.tracking.ledger import EntryKind
from tests.tracking_api.dashboard.conftest import MAX, OURS, Dashboard
from tests.tracking_api.dashboard.reading import csrf, words
from tests.world import LANDING_PAGE, NOW
from tracking_api.dashboard.pages import partners

HOSTILE = "<img src=x onerror=alert(1)>\u202etxt.exe\u200b"
TODAY = {"dateFrom": str(NOW.date()), "dateTo": str(NOW.date())}


async def shown(olga: httpx.AsyncClient, path: str) -> str:
    page = await olga.get(f"/programs/1{path}")
    assert page.status_code == 200
    return words(page.text)


async def test_a_commission_shows_its_arithmetic_the_terms_that_priced_it_and_its_ledger(dashboard: Dashboard):
    acme, olga = dashboard.acme, dashboard.olga
    await acme.customer()
    await acme.sale(tax_cents=1_000)
    await dashboard.patch(".", commission_rate=50, commission_basis="total", lead_commission_cents=300)
    await acme.customer("user-2")
    await acme.refund("inv-1", 2_500)
    [of_lead, sold] = (await acme.listed(commissions.COMMISSIONS)).data

    page, lead = await shown(olga, f"/commissions/{sold.id}"), await shown(olga, f"/commissions/{of_lead.id}")
    details = await acme.store.read(commissions.get_details, acme.program_id, sold.id, at=NOW)

    lines = (
        "Earned +$18.00",
        "Without tax and shipping $90.00",
        "20% of $90.00 = $18.00",
        "Taken back -$4.50",
        "Worth now $13.50",
    )
    assert "Terms of version 1" in page
    assert "on hold" in page
    assert [line for line in lines if line not in page] == []
    assert "Lead $3.00 for each settled lead" in lead
    entries = [(entry.kind, entry.amount_cents) for entry in details.entries]
    assert entries == [(EntryKind.COMMISSION, 1_800), (EntryKind.REVERSAL, -450)]
    assert details.terms.rate == 2_000


async def test_what_visitors_and_partners_send_is_shown_as_text(dashboard: Dashboard, olga: httpx.AsyncClient):
    acme = dashboard.acme
    click = {"program_id": acme.program_id, "affiliate_url": LANDING_PAGE, "page_title": HOSTILE}
    await dashboard.call("POST", "/api/v1/track/click", None, json=click, headers={"User-Agent": "Firefox"})
    found = Finding(FlagKind.BRAND_BIDDING, "partner:1", acme.anna, NOW, {"referrer_hosts": [HOSTILE]})
    await acme.store.write(fraud_review.raise_flags, acme.program_id, [found], at=NOW)

    pages = [(await olga.get(f"{dashboard.pages}/{name}")).text for name in ("events", "review")]

    assert "&lt;img src=x onerror=alert(1)&gt;txt.exe" in pages[0]
    assert "The customer came from a search ad" in pages[1]
    assert [page for page in pages if "<img src=x" in page] == []


async def test_rejected_calls_say_what_was_wrong_and_what_to_do(dashboard: Dashboard, olga: httpx.AsyncClient):
    await dashboard.acme.customer()
    lost = {"inv-7": "user-1", "inv-8": "user-1", "inv-9": "nobody"}
    for name, key in lost.items():
        sale = {"customer_key": key, "amount_cents": 100, "currency": "GBP", "transaction_id": name}
        assert (await dashboard.call("POST", "/api/v1/track/sale", dashboard.acme.key, json=sale)).status_code == 400

    page = words((await olga.get(f"{dashboard.pages}/refused-calls")).text)

    assert "Not among them: 1 organic sale," in page
    assert "2 calls currency_not_supported" in page
    assert "Sales not recorded: £2.00 What to do:" in page


async def test_the_page_of_a_partner_shows_results_links_and_flags_and_no_one_else_s(dashboard: Dashboard):
    acme, olga = dashboard.acme, dashboard.olga
    landing = "https://acme.example/pricing?aff=anna&campaign=spring"
    click = {"program_id": acme.program_id, "affiliate_url": landing}
    clicked = await dashboard.call("POST", "/api/v1/track/click", None, json=click, headers=OURS)
    await acme.lead(clicked.json()["click_id"], "user-1")
    await acme.sale()
    await acme.flag()

    anna, ben, foreign = [
        await olga.get(f"{dashboard.pages}/partners/{each}", params=TODAY) for each in (acme.anna, acme.ben, 1)
    ]

    hers = ("$100.00", "$20.00", "To review: 1.", '<bdi>/pricing</bdi> <span class="badge">spring</span>')
    assert [each for each in hers if each not in anna.text or each in ben.text] == []
    assert foreign.status_code == 404


def test_a_link_stays_on_the_shop():
    leading = {
        "": "https://acme.example/?aff=a%26b",
        "pricing": "https://acme.example/pricing?aff=a%26b",
        "https://acme.example/a/b?x=1#top": "https://acme.example/a/b?x=1&aff=a%26b#top",
        "/größe": "https://acme.example/gr%C3%B6%C3%9Fe?aff=a%26b",
        "///evil.example": "https://acme.example/evil.example?aff=a%26b",
    }
    assert {page: partners.link_of("acme.example", "a&b", page) for page in leading} == leading
    spring = partners.link_of("acme.example", "anna", "/?plan=pro", "spring sale")
    assert spring == "https://acme.example/?plan=pro&aff=anna&campaign=spring%20sale"
    for page in ("https://evil.example/", "//evil.example", "javascript:alert(1)//", "/\x00", "/" * 2000):
        with pytest.raises(ValidationError):
            partners.link_of("acme.example", "anna", page)


async def test_an_owner_edits_a_partner_and_only_the_log_and_the_workspace_see_the_notes(dashboard: Dashboard):
    acme, olga = dashboard.acme, dashboard.olga
    address = f"{dashboard.pages}/partners/{acme.anna}"
    form = {"csrf": await csrf(olga), "name": "Anna B.", "code": "anna", "email": "", "status": "paused"}

    saved = await olga.post(f"{address}/edit", data={**form, "notes": "Prefers invoices.\nCall in May."})
    taken = await olga.post(f"{address}/edit", data={**form, "code": "ben", "notes": "Kept"})
    async with dashboard.browser(MAX) as other:
        member = await other.get(address)

    assert (saved.status_code, saved.headers["location"]) == (303, address)
    partner = await acme.store.read(find.get, PARTNERS, declaration.ListScope(acme.program_id, NOW), acme.anna)
    assert (partner.name, partner.status, partner.notes) == ("Anna B.", "paused", "Prefers invoices.\nCall in May.")
    assert taken.status_code == 400
    assert "Another partner of this program has this code" in taken.text
    assert ">Kept</textarea>" in taken.text
    assert "Prefers invoices." in member.text
    assert "/edit" not in member.text
    listed = await dashboard.get(f"/api/programs/{acme.program_id}/partners")
    assert "Prefers" not in listed.text
