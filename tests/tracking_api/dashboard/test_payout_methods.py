"""How a partner is paid, over the dashboard's API: checked, sealed, masked, on hold, and mailed to the partner."""

from typing import Any

from storage.management import partners
from storage.tables import audit_entries, payout_methods
from tests import smtp
from tests.storage.management.paying import earn
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.world import stored

IBAN = {"kind": "bank", "holder": "Anna Lind", "iban": "DE89 3704 0044 0532 0130 00"}
US = {"kind": "bank", "holder": "Anna", "account_number": "12345678", "routing_number": "111000025"}
WRONG = [
    ("email", {"kind": "paypal", "email": "nobody"}),
    ("email", {"kind": "wise"}),
    ("iban", {**IBAN, "iban": "DE89370400440532013001"}),
    ("routing_number", {**US, "routing_number": "111000024"}),
    ("text", {"kind": "other"}),
]


async def test_a_method_is_checked_sealed_masked_and_mailed_and_a_new_one_waits_until_an_owner_releases_it(
    dashboard: Dashboard, mailbox: smtp.Mailbox
) -> None:
    acme, path = dashboard.acme, f"./partners/{dashboard.acme.anna}/payout-method"
    await acme.do(partners.change, acme.anna, {"email": "anna@partners.example"})
    await earn(acme, 10_000)

    async def put(body: Any) -> Any:
        return (await dashboard.call("PUT", path, json=body)).json()

    assert [(await put(body))["error"]["fields"][0]["field"] for _, body in WRONG] == [field for field, _ in WRONG]
    first, second = await put(IBAN), await put(US)
    held = (await dashboard.get("./payables", reason="method_on_hold")).json()["data"]
    released = (await dashboard.post(f"{path}/release", reason="Anna called")).json()

    assert (first["masked"], first["held_until"]) == ("DE••3000", first["changed_at"])
    assert (second["masked"], second["held_until"]) == ("••5678", "2026-05-27T12:00:00Z")
    assert ([each["name"] for each in held], released["release_reason"]) == (["Anna"], "Anna called")
    assert (await dashboard.get("./payables", payable="true")).json()["data"][0]["name"] == "Anna"
    for column in (payout_methods.c.sealed, audit_entries.c.after):
        assert "12345678" not in str(await stored(acme, column))
    message = mailbox.messages[0]
    assert (message["To"], message["Subject"]) == ("anna@partners.example", "How Acme partners pays you has changed")
    assert "••5678" in mailbox.text()
