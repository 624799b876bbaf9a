"""Events and rejected calls over plain HTTP: strangers' text as text, and rejections by cause with what to do."""

import httpx

from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.tracking_api.dashboard.reading import words
from tests.world import LANDING_PAGE

HOSTILE = "<img src=x onerror=alert(1)>\u202etxt.exe\u200b"
SALE = {"customer_key": "nobody", "amount_cents": 100}


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
