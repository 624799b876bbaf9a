"""Owners and finance download the files of a payout; members and agents with the scope read partners' statements."""

from typing import Any

import httpx
import pytest

from storage.access.workspaces import Role
from storage.management import payout_methods
from storage.reports.payments import read_payments
from storage.rules.payout import MethodKind
from storage.rules.scope import Scope
from storage.tracking import currencies
from tests.agent_api.conftest import Agents
from tests.storage.management.paying import AT, SEALER, do, draft, earn, pay_by, send
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.world import NOW

PAYPAL = "anna@partners.example,20.00,USD"


@pytest.fixture
async def paid(dashboard: Dashboard) -> int:
    """Return a draft of a payout of Anna's commission, at the time of the payout."""
    await pay_by(dashboard.acme, dashboard.acme.anna)
    await earn(dashboard.acme, 10_000)
    dashboard.at = AT
    for who in (Role.OWNER, Role.MEMBER, Role.FINANCE, Role.MANAGER):
        await dashboard.join(f"{who}@payers.example", who)
    return int((await draft(dashboard.acme)).id)


async def test_owners_and_finance_download_the_files_of_a_payout(dashboard: Dashboard, paid: int):
    files = {
        who: await dashboard.get(f"./payouts/{paid}/files/paypal", f"{who}@payers.example")
        for who in ("owner", "finance")
    }
    others = [
        await dashboard.get(f"./payouts/{paid}/files/csv", f"{who}@payers.example") for who in ("member", "manager")
    ]
    missing = [await dashboard.get(path, "owner@payers.example") for path in paths_of_nothing(paid)]

    for answer in files.values():
        assert answer.text.startswith(PAYPAL)
        assert (answer.headers["svc-payments"], answer.headers["svc-payments-cents"]) == ("1", "2000")
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        assert "paypal-1-20.00-USD.csv" in answer.headers["content-disposition"]
    assert [answer.status_code for answer in others] == [403, 403]
    assert [answer.status_code for answer in missing] == [404, 404, 404]


def paths_of_nothing(payout_id: int) -> list[str]:
    return [f"./payouts/{payout_id}/files/ebics", "./payouts/9/files/csv", "./statements/9"]


async def test_a_sepa_file_pays_from_the_account_of_the_settings(dashboard: Dashboard, paid: int):
    euros = await dashboard.acme.beside(currency="EUR")
    await euros.store.write(currencies.load, [(NOW.date(), "USD", "1.25")])
    bank = {"holder": "Anna Lind", "iban": "DE89370400440532013000"}
    await do(euros, payout_methods.change, euros.anna, MethodKind.BANK, bank, sealer=SEALER, at=NOW)
    await earn(euros, 10_000)
    file = f"/api/programs/{euros.program_id}/payouts/{(await draft(euros)).id}/files/sepa"
    who = "owner@payers.example"

    without = await dashboard.get(file, who)
    wrong = await dashboard.patch(f"/api/programs/{euros.program_id}", who, payer_iban="DE00")
    saved = await dashboard.patch(f"/api/programs/{euros.program_id}", who, payer_iban="NL91 ABNA 0417 1643 00")
    written = await dashboard.get(file, who)
    in_dollars = await dashboard.get(f"./payouts/{paid}/files/sepa", who)

    assert [each.status_code for each in (without, wrong, in_dollars)] == [400, 400, 400]
    assert saved.json()["payer_iban"] == "NL91ABNA0417164300"
    assert written.headers["content-type"] == "application/xml"
    assert all(f"<IBAN>{each}</IBAN>" in written.text for each in ("NL91ABNA0417164300", bank["iban"]))
    assert '<InstdAmt Ccy="EUR">16.00</InstdAmt>' in written.text


async def test_a_statement_is_a_page_or_a_pdf_file_as_the_reader_accepts(dashboard: Dashboard, paid: Any):
    sent = await send(dashboard.acme, await get_draft(dashboard, paid))

    page = await dashboard.get("./statements/1", "member@payers.example")
    files = [
        await dashboard.call("GET", "./statements/1", "member@payers.example", headers={"Accept": "application/pdf"}),
        await dashboard.get("./statements/1", "member@payers.example", format="pdf"),
    ]

    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert all(text in page.text for text in ("Statement 1", str(sent.reference), "$20.00", "anna-0-10000"))
    assert all(file.content.startswith(b"%PDF-") for file in files)
    assert {file.headers["content-type"] for file in files} == {"application/pdf"}


async def get_draft(dashboard: Dashboard, payout_id: int) -> Any:
    found = await dashboard.acme.store.read(read_payments, dashboard.acme.program_id, payout_id, at=AT)
    return found.payout


async def test_an_agent_with_the_scope_reads_both(dashboard: Dashboard, paid: int):
    agents = Agents(dashboard.acme)
    agents.at = AT
    agents.good = await agents.issue((Scope.PAYOUTS_READ,), at=AT)
    other = await agents.issue((Scope.PARTNERS_READ,), at=AT)
    await send(dashboard.acme, await get_draft(dashboard, paid))

    async with agents.client:
        file = await agents.get(f"./payouts/{paid}/files/paypal")
        page = await agents.get("./statements/1")
        hidden: httpx.Response = await agents.call("GET", "./statements/1", other)

    assert file.text.startswith(PAYPAL)
    assert "Statement 1" in page.text
    assert hidden.json()["error"]["required_scope"] == "payouts:read"
