"""A partner's page over plain HTTP: results, links with QR codes, the edit form, and who may see it."""

import httpx
import pytest

from storage.management import partners
from storage.rules.errors import ValidationError
from tests.tracking_api.dashboard.conftest import MAX, OURS, Dashboard
from tests.tracking_api.dashboard.reading import csrf
from tests.world import NOW
from tracking_api.dashboard.pages import links

TODAY = {"dateFrom": str(NOW.date()), "dateTo": str(NOW.date())}


async def test_the_page_of_a_partner_shows_results_balance_links_and_flags(
    olga: httpx.AsyncClient, dashboard: Dashboard
):
    acme = dashboard.acme
    landing = "https://acme.example/pricing?aff=anna&campaign=spring"
    click = {"program_id": acme.program_id, "affiliate_url": landing}
    clicked = await dashboard.call("POST", "/api/v1/track/click", None, json=click, headers=OURS)
    await acme.lead(clicked.json()["click_id"], "user-1")
    await acme.sale()
    await acme.flag()
    address = f"{dashboard.pages}/partners/{acme.anna}"

    page = (await olga.get(address, params=TODAY)).text
    ben = (await olga.get(f"{dashboard.pages}/partners/{acme.ben}", params=TODAY)).text
    foreign = await olga.get(f"{dashboard.pages}/partners/1")

    assert "$100.00" in page
    assert "$20.00" in page
    assert "Signs of fraud: 1." in page
    assert '<bdi>/pricing</bdi> <span class="badge">spring</span>' in page
    assert f"/commissions?partner_id={acme.anna}" in page
    assert "Signs of fraud" not in ben
    assert "$100.00" not in ben
    assert foreign.status_code == 404


async def test_a_link_to_a_page_has_its_campaign_and_a_qr_code(olga: httpx.AsyncClient, dashboard: Dashboard):
    acme = dashboard.acme
    address = f"{dashboard.pages}/partners/{acme.anna}"

    page = await olga.get(address, params={"page": "/pricing?plan=pro", "campaign": "spring sale"})
    other = await olga.get(address, params={"page": "https://evil.example/"})
    code = await olga.get(f"{address}/qr.svg", params={"page": "/pricing"})

    assert "https://acme.example/pricing?plan=pro&amp;aff=anna&amp;campaign=spring%20sale" in page.text
    assert other.status_code == 400
    assert "Enter a page of acme.example" in other.text
    assert (code.headers["content-type"], code.headers["x-content-type-options"]) == ("image/svg+xml", "nosniff")
    assert code.content == links.qr_code("https://acme.example/pricing?aff=anna")
    assert (await olga.get(f"{address}/qr.svg", params={"page": "//evil.example"})).status_code == 400


def test_a_link_stays_on_the_shop():
    leading = {
        "": "https://acme.example/?aff=a%26b",
        "pricing": "https://acme.example/pricing?aff=a%26b",
        "https://acme.example/a/b?x=1#top": "https://acme.example/a/b?x=1&aff=a%26b#top",
        "/größe": "https://acme.example/gr%C3%B6%C3%9Fe?aff=a%26b",
        "///evil.example": "https://acme.example/evil.example?aff=a%26b",
    }
    assert {page: links.of_partner("acme.example", "a&b", page) for page in leading} == leading
    for page in ("https://evil.example/", "//evil.example", "javascript:alert(1)//", "/\x00", "/" * 2000):
        with pytest.raises(ValidationError):
            links.of_partner("acme.example", "anna", page)


async def test_an_owner_edits_a_partner_and_only_the_log_and_the_workspace_see_the_notes(
    olga: httpx.AsyncClient, dashboard: Dashboard
):
    acme = dashboard.acme
    address = f"{dashboard.pages}/partners/{acme.anna}"
    form = {"csrf": await csrf(olga), "name": "Anna B.", "code": "anna", "email": "", "status": "paused"}

    saved = await olga.post(f"{address}/edit", data={**form, "notes": "Prefers invoices.\nCall in May."})
    taken = await olga.post(f"{address}/edit", data={**form, "code": "ben", "notes": "Kept"})
    async with dashboard.browser(MAX) as other:
        member = await other.get(address)

    assert (saved.status_code, saved.headers["location"]) == (303, address)
    partner = await acme.store.read(partners.get_partner, acme.program_id, acme.anna)
    assert (partner.name, partner.status, partner.notes) == ("Anna B.", "paused", "Prefers invoices.\nCall in May.")
    assert taken.status_code == 400
    assert "Another partner of this program has this code" in taken.text
    assert ">Kept</textarea>" in taken.text
    assert "Prefers invoices." in member.text
    assert "/edit" not in member.text
    listed = await dashboard.get(f"/api/programs/{acme.program_id}/partners")
    assert "Prefers" not in listed.text
