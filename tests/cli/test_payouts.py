"""`svc admin payout`: what the resource table offers on payouts, on the command line."""

import asyncio
from typing import Any

from storage import Storage
from tests import world
from tests.cli.conftest import Svc
from tests.storage.management.paying import earn, pay_by
from tests.test_journeys import stored


async def prepare(store: Storage) -> int:
    """Let Acme owe Anna for one sale; return its id."""
    acme = await world.acme(store)
    await pay_by(acme, acme.anna)
    await earn(acme, 10_000)
    return acme.program_id


def test_a_payout_is_drafted_shown_sent_reopened_and_discarded(svc: Svc):
    assert svc("admin", "db", "upgrade").code == 0
    program_id = asyncio.run(stored(svc.url, prepare))

    def payout(command: str, *arguments: object, program: int = program_id) -> Any:
        return svc("admin", "payout", command, "--program", program, *arguments, "--json").json

    drafted = payout("draft", "--earned-until", "2099-12-31")
    name, again = drafted["id"], payout("draft", "--partner-ids", 1, "--partner-ids", 2)["error"]
    [line] = payout("lines", name, "--state", "open")["data"]
    sent = payout(
        "send", name, "--paid-on", "2026-11-28", "--reference", "A-11", "--failed", f"{line['id']}:It: closed"
    )
    failed = payout("lines", name)["data"][0]["failure"]
    wrong = payout("draft", "--earned-until", "soon", "--partner-ids", "x")["error"]

    assert (drafted["state"], drafted["to_pay_cents"], line["method_masked"]) == (
        "draft",
        2_000,
        "a***@partners.example",
    )
    assert again["code"] == "partner_not_found"
    assert (sent["state"], sent["reference"], sent["failed"], failed) == ("sent", "A-11", 1, "It: closed")
    assert [each["field"] for each in wrong["fields"]] == ["earned_until", "partner_ids.0"]
    assert payout("reopen", name)["state"] == "draft"
    assert payout("discard", name) == {"success": True}
    assert payout("show", name)["state"] == "discarded"
    assert payout("list", program=404)["error"]["code"] == "not_found"
    assert "state: discarded\n" in svc("admin", "payout", "list", "--program", program_id).stdout
