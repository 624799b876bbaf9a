"""Payouts over the dashboard's API: methods, drafts, what was sent, and who may do what."""

from typing import Any

from sqlalchemy import update

from storage.access.workspaces import Role
from storage.tables import audit_entries, partners, payout_methods
from tests import smtp
from tests.storage.management.paying import AT, earn
from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.world import stored

BANK = {"kind": "bank", "holder": "Anna Lind", "iban": "DE89 3704 0044 0532 0130 00"}
SENT = {"paid_on": AT.date().isoformat(), "reference": "ACME-11"}
FINN = "finn@acme.example"


async def put(dashboard: Dashboard, partner_id: int, who: str = "olga@acme.example", **body: Any) -> Any:
    return await dashboard.call("PUT", f"./partners/{partner_id}/payout-method", who, json=body)


async def test_a_payout_is_drafted_sent_once_and_reopened(dashboard: Dashboard) -> None:
    acme = dashboard.acme
    await earn(acme, 10_000, 5_000)
    await put(dashboard, acme.anna, **BANK)

    payables = {each["name"]: each for each in (await dashboard.get("./payables")).json()["data"]}
    drafted = (await dashboard.post("./payouts", earned_until="2026-06-30")).json()
    path = f"./payouts/{drafted['id']}"
    [line] = (await dashboard.get(f"{path}/lines", totals="true")).json()["data"]
    second, sent = await dashboard.post("./payouts"), await dashboard.post(f"{path}/send", **SENT)
    again, discarded = await dashboard.post(f"{path}/send", **SENT), await dashboard.call("DELETE", path)
    reopened = await dashboard.post(f"{path}/reopen")
    await acme.refund("anna-0-10000", 1_000)
    changed, gone = await dashboard.post(f"{path}/send", **SENT), await dashboard.call("DELETE", path)

    assert (payables["Anna"]["payable"], payables["Anna"]["to_pay_cents"]) == (True, 3_000)
    assert (payables["Ben"]["payable"], payables["Ben"]["reason"]) == (False, "nothing_to_pay")
    assert (drafted["state"], drafted["to_pay_cents"], drafted["left_out"]) == ("draft", 3_000, {})
    assert (line["partner"]["name"], line["method"], line["method_masked"]) == ("Anna", "bank", "DE••3000")
    assert [(each.status_code, each.json()["error"]["code"]) for each in (second, again, discarded, changed)] == [
        (409, "payout_open"),
        (409, "payout_sent"),
        (409, "payout_sent"),
        (409, "payout_changed"),
    ]
    assert (sent.json()["state"], sent.json()["paid_on"], reopened.json()["state"]) == ("sent", "2026-06-19", "draft")
    assert (gone.json(), (await dashboard.get(path)).json()["state"]) == ({"success": True}, "discarded")
    assert (await dashboard.get("./payouts/1/lines")).status_code == 404


async def test_a_method_is_checked_sealed_and_masked_and_a_new_one_waits_until_an_owner_releases_it(
    dashboard: Dashboard,
) -> None:
    anna = dashboard.acme.anna
    await earn(dashboard.acme, 10_000)
    wrong = [
        {"kind": "paypal", "email": "nobody"},
        {"kind": "wise"},
        {**BANK, "iban": "DE89370400440532013001"},
        {"kind": "bank", "holder": "Anna", "account_number": "12345678", "routing_number": "111000024"},
        {"kind": "other"},
    ]
    fields = [(await put(dashboard, anna, **each)).json()["error"]["fields"][0]["field"] for each in wrong]
    first = (await put(dashboard, anna, **BANK)).json()
    us = {"kind": "bank", "holder": "Anna", "account_number": "12345678", "routing_number": "111000025"}
    second = (await put(dashboard, anna, **us)).json()
    held = (await dashboard.get("./payables", reason="method_on_hold")).json()["data"]
    path = f"./partners/{anna}/payout-method"
    by_finance = await dashboard.join(FINN, Role.FINANCE)
    rejected = await dashboard.post(f"{path}/release", FINN, reason="Anna called")
    released = (await dashboard.post(f"{path}/release", reason="Anna called")).json()

    assert fields == ["email", "email", "iban", "routing_number", "text"]
    assert (first["masked"], first["held_until"]) == ("DE••3000", first["changed_at"])
    assert (second["masked"], second["held_until"]) == ("••5678", "2026-05-27T12:00:00Z")
    assert ([each["name"] for each in held], by_finance > 0) == (["Anna"], True)
    assert (rejected.status_code, released["release_reason"]) == (403, "Anna called")
    assert (await dashboard.get("./payables", payable="true")).json()["data"][0]["name"] == "Anna"
    for column in (payout_methods.c.sealed, audit_entries.c.after):
        assert "12345678" not in str(await stored(dashboard.acme, column))
    assert (await put(dashboard, anna, MAX, **BANK)).json()["error"]["code"] == "owner_required"


async def test_the_partner_learns_by_e_mail_how_they_are_paid_now(dashboard: Dashboard, mailbox: smtp.Mailbox) -> None:
    anna = dashboard.acme.anna
    addressed = update(partners).where(partners.c.id == anna).values(email="anna@partners.example")
    await dashboard.acme.store.write(lambda connection: connection.execute(addressed).rowcount)

    await put(dashboard, anna, **BANK)

    [message] = mailbox.messages
    assert (message["To"], message["Subject"]) == ("anna@partners.example", "How Acme partners pays you has changed")
    assert "DE••3000" in mailbox.text()
