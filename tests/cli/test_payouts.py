"""`svc admin payout`: a payout is drafted, shown, sent and reopened on the command line."""

import asyncio
from typing import Any

import storage
from tests import world
from tests.cli.conftest import Svc
from tests.storage.management.paying import earn, pay_by


async def prepare(url: str) -> int:
    """Give the database Acme, whose Anna is owed for one sale; return the program's id."""
    async with storage.opened(url) as store:
        acme = await world.acme(store)
        await pay_by(acme, acme.anna)
        await earn(acme, 10_000)
        return acme.program_id


def test_a_payout_is_drafted_shown_sent_reopened_and_discarded(svc: Svc):
    assert svc("admin", "db", "upgrade").code == 0
    program_id = asyncio.run(prepare(f"sqlite+aiosqlite:///{svc.database}"))

    def payout(*arguments: object) -> tuple[int, dict[str, Any]]:
        done = svc("admin", "payout", arguments[0], "--program", program_id, *arguments[1:], "--json")
        return done.code, done.json

    code, drafted = payout("draft", "--earned-until", "2099-12-31")
    name, paid = drafted["id"], ("--paid-on", "2026-11-28", "--reference", "ACME-11")
    shown = payout("show", name)[1]

    assert (code, drafted["state"], drafted["to_pay_cents"]) == (0, "draft", 2_000)
    assert [(each["partner_name"], each["method_masked"]) for each in shown["lines"]] == [
        ("Anna", "a***@partners.example")
    ]
    assert payout("draft") == (1, payout("draft")[1])
    assert payout("draft")[1]["error"]["code"] == "payout_open"
    assert payout("send", name, *paid)[1]["reference"] == "ACME-11"
    assert payout("reopen", name)[1]["state"] == "draft"
    assert payout("discard", name) == (0, {"payout_id": name})
    assert [each["state"] for each in payout("list")[1]["payouts"]] == ["discarded"]
    assert "discarded" in svc("admin", "payout", "list", "--program", program_id).stdout
