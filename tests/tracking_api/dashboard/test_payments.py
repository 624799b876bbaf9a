"""The payment account and its webhook, decisions on payments that do not count, and exchange rates."""

from datetime import date

import httpx
import pytest
from sqlalchemy import select

from storage.rules.errors import CurrencyNotSupported
from storage.tables import payment_accounts
from storage.tracking import currencies
from tests import stripe_events as stripe
from tests import world
from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.tracking_api.dashboard.reading import form_of, press, send

ACCOUNT = {"provider": "stripe", "account_id": "acct_1", "webhook_secret": stripe.SECRET}
REJECTED = (400, "invalid_signature")
DAY = b"Date, USD, GBP, \n19 May 2026, 1.2500, 0.8500, \n"


async def connect(dashboard: Dashboard, **changed: str) -> httpx.Response:
    return await dashboard.call("PUT", "./payment-account", json=ACCOUNT | changed)


async def deliver(
    dashboard: Dashboard, content: bytes, headers: dict[str, str], program: object = None
) -> httpx.Response:
    where = f"/api/v1/payments/stripe/{program or dashboard.acme.program_id}"
    return await dashboard.client.post(where, content=content, headers=headers)


def said(answer: httpx.Response) -> tuple[int, str]:
    """Return the status with the outcome or the error's code."""
    body = answer.json()
    return answer.status_code, body.get("outcome") or body["error"]["code"]


async def test_an_owner_connects_an_account_and_its_secret_is_stored_encrypted_and_never_shown(dashboard: Dashboard):
    for field, value in (("provider", "paypal"), ("webhook_secret", "x"), ("account_id", "")):
        rejected = await connect(dashboard, **{field: value})
        assert [each["field"] for each in rejected.json()["error"]["fields"]] == [field]
    page = f"{dashboard.pages}/settings/payments"
    typed = await send(dashboard.olga, page, "Connect", account_id="acct_1", webhook_secret="short")
    connected = await connect(dashboard)

    fields = form_of(typed.text, "Connect")[1]
    assert (typed.status_code, fields["account_id"], fields["webhook_secret"]) == (400, ["acct_1"], [""])
    assert connected.json() == {
        "provider": "stripe",
        "account_id": "acct_1",
        "connected_at": "2026-05-20T12:00:00Z",
        "webhook_secrets": 1,
        "webhook_url": f"http://svc.test/api/v1/payments/stripe/{dashboard.acme.program_id}",
    }
    assert (await dashboard.get("./payment-account")).json() == connected.json()
    status = (await dashboard.get("/api/v1/cli/status", dashboard.acme.key)).json()["data"]
    assert status["payment_account_connected"] is True
    audit = (await dashboard.get("./audit-log")).text
    assert "payment_account.connect" in audit
    sealed = select(payment_accounts.c.sealed_secrets)
    stored = await dashboard.acme.store.read(lambda connection: str(connection.execute(sealed).scalar_one()))
    shown = (await dashboard.olga.get(page)).text
    assert stripe.SECRET not in audit + connected.text + stored + shown


async def test_a_wrong_signature_and_a_program_without_an_account_are_rejected_alike(dashboard: Dashboard):
    await connect(dashboard)
    content, headers = stripe.signed(stripe.checkout())

    answers = [await deliver(dashboard, content, headers, program) for program in ("0", "99", "x", "9" * 400)]
    answers.append(await deliver(dashboard, content + b" ", headers))

    assert [said(answer) for answer in answers] == [REJECTED] * 5


async def test_a_signed_event_is_a_sale_of_the_partner_a_test_ignored_or_rejected(dashboard: Dashboard):
    await connect(dashboard)
    paid = stripe.checkout(metadata={"svc_click_id": await dashboard.acme.visitor()})
    unknown = stripe.event("customer.created", {"id": "cus_1"}, event_id="evt_9")

    tried, recorded, ignored, broken = [
        await deliver(dashboard, *stripe.signed(event))
        for event in (paid | {"livemode": False, "id": "evt_8"}, paid, unknown, stripe.checkout(amount_total="much"))
    ]

    answers = [said(each) for each in (tried, ignored, broken)]
    assert answers == [(200, "test"), (200, "ignored"), (400, "invalid_json")]
    assert recorded.json() == {"received": True, "outcome": "recorded", "transaction_id": "pi_1"}
    (commission,) = (await dashboard.get("./commissions")).json()["data"]
    assert (commission["partner"]["code"], commission["amount_cents"]) == ("anna", 2_000)
    listed = [(each["outcome"], each["is_test"]) for each in (await dashboard.get("./payment-events")).json()["data"]]
    assert listed == [("ignored", False), ("recorded", False), ("test", True)]
    assert [each["is_test"] for each in (await dashboard.get("./events", kind="test")).json()["data"]] == [True]


async def upload(olga: httpx.AsyncClient, path: str, content: bytes, **fields: str) -> httpx.Response:
    return await press(olga, path, files={"file": ("eurofxref.csv", content)}, **fields)


async def test_the_page_names_missing_rates_and_takes_the_ecbs_file(olga: httpx.AsyncClient, dashboard: Dashboard):
    path, acme = f"{dashboard.pages}/settings/rates", dashboard.acme
    await acme.customer()
    before = (await olga.get(path)).text
    await acme.reject(CurrencyNotSupported(), transaction_id="inv-1", currency="GBP", amount_cents=100)
    lacking = (await olga.get(path)).text

    wrong = await upload(olga, path, b"PK\x03\x04\xff")
    forged = await upload(olga, path, DAY, csrf="another token")
    done = await upload(olga, path, DAY)

    assert "need no exchange rates" in before
    assert "Missing: USD, GBP" in lacking
    assert (wrong.status_code, "unzip it first" in wrong.text, forged.status_code) == (400, True, 403)
    assert done.status_code == 303
    assert "No exchange rate is missing" in (await olga.get(path)).text
    assert (await acme.sale("inv-1", 85, currency="GBP")).commission_cents == 25  # 0.85 GBP is 1.25 USD


async def test_only_a_member_who_owns_every_workspace_imports_rates(olga: httpx.AsyncClient, dashboard: Dashboard):
    path, store = f"{dashboard.pages}/settings/rates", dashboard.acme.store
    max_page = await olga.get(path, headers={"Cookie": f"svc_session={dashboard.tokens[MAX]}"})
    await world.globex(store)

    rejected = await upload(olga, path, DAY)
    shown = await olga.get(path)

    assert rejected.status_code == 403
    assert all("svc admin rates import" in page.text and 'type="file"' not in page.text for page in (max_page, shown))
    with pytest.raises(CurrencyNotSupported):
        await store.read(currencies.convert, 1, currencies.Exchange("USD", "GBP", date(2026, 5, 19)))
