"""A partner says how they are paid, of themselves alone; a change is mailed, and holds payments."""

from tests.storage.management.paying import payable
from tests.tracking_api.dashboard.reading import follow, send, words
from tests.tracking_api.portal.conftest import ANNA, Portal

ACCOUNT = "/portal/account"


async def test_a_partner_says_how_they_are_paid_and_a_change_is_mailed_and_holds_payments(served: Portal):
    async with await served.anna() as anna:
        wrong = await send(anna, ACCOUNT, "Save", kind="bank", holder="Anna", iban="DE00")
        paypal = await send(anna, ACCOUNT, "Save", kind="paypal", email=ANNA, partner_id=str(served.acme.ben))
        first = await follow(anna, paypal)
        home = words((await anna.get("/portal")).text)
        changed = await send(anna, ACCOUNT, "Save", kind="bank", holder="Anna", iban="DE89370400440532013000")
        after = await follow(anna, changed)

    assert (wrong.status_code, "An IBAN, whose check digits fit" in wrong.text) == (400, True)
    assert "PayPal a***@partners.example" in first
    assert "What you earn is paid to PayPal a***@partners.example" in home
    assert "Bank transfer DE••3000 Payments by it start after May 27." in after
    assert "370400440532013000" not in after
    assert [each["to"] for each in served.mailbox.messages] == [ANNA, ANNA]
    methods = await payable(served.acme)
    assert (methods[served.acme.anna].method, methods[served.acme.ben].method) == ("bank", None)
