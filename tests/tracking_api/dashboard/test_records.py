"""The pages of what is recorded: a customer, a commission, rejected calls, flags, the audit log, and a partner."""

import httpx
import pytest

from storage.lists import commissions
from storage.lists.partners import PARTNERS
from storage.rules.errors import ValidationError
from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.tracking_api.dashboard.reading import csrf, words
from tracking_api.dashboard.pages import partners


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
    form = {"csrf": await csrf(olga), "action": "edit", "name": "Anna B.", "code": "anna", "status": "paused"}

    saved = await olga.post(address, data={**form, "notes": "Prefers invoices.\nCall in May."})
    taken = await olga.post(address, data={**form, "code": "ben", "notes": "Kept"})
    async with dashboard.browser(MAX) as other:
        member = await other.get(address)

    assert (saved.status_code, saved.headers["location"]) == (303, address)
    partner = await acme.row(PARTNERS, acme.anna)
    assert (partner.name, partner.status, partner.notes) == ("Anna B.", "paused", "Prefers invoices.\nCall in May.")
    assert taken.status_code == 400
    assert "Another partner of this program has this code" in taken.text
    assert ">Kept</textarea>" in taken.text
    assert "Prefers invoices." in member.text
    assert 'value="edit"' not in member.text
    listed = await dashboard.get(f"/api/programs/{acme.program_id}/partners")
    assert "Prefers" not in listed.text
