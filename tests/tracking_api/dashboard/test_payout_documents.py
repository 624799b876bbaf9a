"""The files of a payout, and partners' statements as pages and PDF files; the matrix says who may read them."""

import pytest

from storage.access.workspaces import Role
from storage.lists.payouts import Payout
from storage.management import payout_methods
from storage.rules.payout import MethodKind
from storage.tracking import currencies
from tests.storage.management.paying import AT, do, draft, earn, pay_by, send
from tests.tracking_api.dashboard.conftest import OLGA, Dashboard
from tests.world import NOW, SEALER

FINN = "finn@acme.example"


@pytest.fixture
async def paid(dashboard: Dashboard) -> Payout:
    """Return a draft of a payout of Anna's commission, at the time of the payout."""
    await pay_by(dashboard.acme, dashboard.acme.anna)
    await earn(dashboard.acme, 10_000)
    dashboard.at = AT
    await dashboard.join(FINN, Role.FINANCE)
    dashboard.tokens[OLGA] = await dashboard.acme.sign_in(at=AT)
    return await draft(dashboard.acme)


async def test_finance_downloads_the_files_of_a_payout(dashboard: Dashboard, paid: Payout):
    file = await dashboard.get(f"./payouts/{paid.id}/files/paypal", FINN)
    nothing = (f"./payouts/{paid.id}/files/ebics", "./payouts/9/files/csv", "./statements/9")

    assert file.text.startswith("anna@partners.example,20.00,USD")
    assert (file.headers["svc-payments"], file.headers["svc-payments-cents"]) == ("1", "2000")
    assert file.headers["content-type"] == "text/csv; charset=utf-8"
    assert "paypal-1-20.00-USD.csv" in file.headers["content-disposition"]
    assert [(await dashboard.get(path)).status_code for path in nothing] == [404, 404, 404]


async def test_a_sepa_file_pays_from_the_account_of_the_settings(dashboard: Dashboard, paid: Payout):
    euros = await dashboard.acme.beside(currency="EUR", payer_iban="NL91ABNA0417164300")
    await euros.store.write(currencies.load, [(NOW.date(), "USD", "1.25")])
    bank = {"holder": "Anna Lind", "iban": "DE89370400440532013000"}
    await do(euros, payout_methods.change, euros.anna, MethodKind.BANK, bank, sealer=SEALER, at=NOW)
    await earn(euros, 10_000)

    written = await dashboard.get(f"/api/programs/{euros.program_id}/payouts/{(await draft(euros)).id}/files/sepa")
    in_dollars = await dashboard.get(f"./payouts/{paid.id}/files/sepa")

    assert in_dollars.status_code == 400
    assert written.headers["content-type"] == "application/xml"
    assert "sepa-1-16.00-EUR.xml" in written.headers["content-disposition"]
    assert all(f"<IBAN>{each}</IBAN>" in written.text for each in ("NL91ABNA0417164300", bank["iban"]))
    assert '<InstdAmt Ccy="EUR">16.00</InstdAmt>' in written.text


async def test_a_statement_is_a_page_or_a_pdf_file_as_the_reader_accepts(dashboard: Dashboard, paid: Payout):
    sent = await send(dashboard.acme, paid)

    page = await dashboard.get("./statements/1")
    files = [
        await dashboard.call("GET", "./statements/1", headers={"Accept": "application/pdf"}),
        await dashboard.get("./statements/1", format="pdf"),
    ]

    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert all(text in page.text for text in ("Statement 1", str(sent.reference), "$20.00", "anna-0-10000"))
    assert all(file.content.startswith(b"%PDF-") for file in files)
    assert {file.headers["content-type"] for file in files} == {"application/pdf"}
