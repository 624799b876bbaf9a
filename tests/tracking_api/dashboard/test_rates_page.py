"""The page of exchange rates: what is missing, and the ECB's file as an upload, by who may."""

from datetime import date

import httpx
import pytest

from storage.access import workspaces
from storage.rules.errors import CurrencyNotSupported
from storage.tracking import currencies
from storage.tracking.currencies import Exchange
from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.tracking_api.dashboard.reading import csrf
from tests.world import NOW

DAY = b"Date, USD, GBP, \n19 May 2026, 1.2500, 0.8500, \n"


async def send(olga: httpx.AsyncClient, path: str, content: bytes, token: str) -> httpx.Response:
    return await olga.post(path, data={"csrf": token}, files={"file": ("eurofxref.csv", content)})


async def test_the_page_names_missing_rates_and_takes_the_ecbs_file(olga: httpx.AsyncClient, dashboard: Dashboard):
    path, acme = f"{dashboard.pages}/settings/rates", dashboard.acme
    await acme.customer()
    before = (await olga.get(path)).text
    await acme.reject(CurrencyNotSupported(), transaction_id="inv-1", currency="GBP", amount_cents=100)
    lacking = (await olga.get(path)).text
    token = await csrf(olga)

    wrong = await send(olga, path, b"PK\x03\x04\xff", token)
    forged = await send(olga, path, DAY, "another token")
    done = await send(olga, path, DAY, token)

    assert "need no exchange rates" in before
    assert "Missing: USD, GBP" in lacking
    assert (wrong.status_code, "unzip it first" in wrong.text, forged.status_code) == (400, True, 403)
    assert done.status_code == 303
    assert "No exchange rate is missing" in (await olga.get(path)).text
    assert (await acme.sale("inv-1", 85, currency="GBP")).commission_cents == 25  # 0.85 GBP is 1.25 USD


async def test_only_a_member_who_owns_every_workspace_imports_rates(olga: httpx.AsyncClient, dashboard: Dashboard):
    path, store = f"{dashboard.pages}/settings/rates", dashboard.acme.store
    token = await csrf(olga)
    max_page = await olga.get(path, headers={"Cookie": f"svc_session={dashboard.tokens[MAX]}"})
    await store.write(workspaces.create, "Globex", owner_email="g@globex.example", password_hash="x", at=NOW)

    rejected = await send(olga, path, DAY, token)
    shown = await olga.get(path)

    assert rejected.status_code == 403
    assert all("svc admin rates import" in page.text and 'type="file"' not in page.text for page in (max_page, shown))
    with pytest.raises(CurrencyNotSupported):
        await store.read(currencies.convert, 1, Exchange("USD", "GBP", date(2026, 5, 19)))
