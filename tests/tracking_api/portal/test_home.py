"""What a partner sees: the balance and why it waits, their link, this month, and what happened last in words."""

from datetime import timedelta
from pathlib import Path
from string import Formatter

from storage.management import by_hand
from tests.storage.management.paying import draft, earn, pay_by, send
from tests.tracking_api.dashboard.reading import words
from tests.tracking_api.portal.conftest import Portal
from tests.world import NOW
from tracking_api.portal.texts import Texts, catalogue


async def read(served: Portal, path: str = "/portal") -> str:
    """Return the words of a page as Anna sees it."""
    async with await served.anna() as anna:
        page = await anna.get(path)
    assert page.status_code == 200
    return words(page.text)


async def test_a_sale_is_there_at_once_with_the_day_from_which_it_counts_or_in_review_and_not_said_why(served: Portal):
    await served.acme.customer()
    before = await read(served)
    await served.acme.sale()
    home = await read(served)
    await served.acme.flag()
    flagged = await read(served)

    assert "Sign-up May 20 · pays when they buy" in before
    assert "Sale May 20 · counts from Jun 4: the shop waits for refunds +$20.00" in home
    assert "On hold $20.00 next $20.00 on Jun 4" in home
    assert "You earn 20% of each sale, as long as the customer buys." in home
    assert "Clicks 1 Sign-ups 1 Customers 1 Earned $20.00" in home
    assert "In review $20.00" in flagged
    assert "the shop looks at it before it counts" in flagged


async def test_each_state_of_a_commission_has_its_reason_in_words(served: Portal):
    acme = served.acme
    await acme.customer()
    sold = [await acme.sale(f"inv-{n}", 1_000 * n) for n in range(1, 5)]
    await acme.decide("rejected", sold[0].commission_id)
    await acme.decide("approved", sold[1].commission_id)
    await acme.refund("inv-3")
    served.at += timedelta(days=20)
    home = await read(served)

    assert "the shop did not accept it $0.00" in home
    assert "in your balance +$4.00" in home
    assert "Refund of May 20 May 20 · the customer got their money back -$6.00" in home
    assert "the shop has yet to approve it +$8.00" in home
    assert "Balance $4.00 No way to pay you yet" in home


async def test_payments_are_listed_by_day_and_reference_and_months_add_up(served: Portal):
    acme = served.acme
    await pay_by(acme, acme.anna)
    await earn(acme, 10_000)
    sent = await send(acme, await draft(acme))
    await acme.do(by_hand.adjust, partner_id=acme.anna, amount_cents=500, reason="A bonus")
    served.at = NOW + timedelta(days=60)
    home, earnings = await read(served), await read(served, "/portal/earnings?month=2026-05")
    async with await served.anna() as anna, served.visitor(svc_portal=await served.session(partner_id=acme.ben)) as ben:
        mine, foreign = [await each.get("/portal/statements/1") for each in (anna, ben)]

    assert "Payment to PayPal" in home
    assert str(sent.reference) in earnings
    assert (mine.headers["content-type"], mine.content[:5], foreign.status_code) == ("application/pdf", b"%PDF-", 404)
    assert "$20.00 What you earned" in earnings
    assert "Balance $5.00" in home


async def test_a_link_to_a_page_has_a_campaign_and_a_qr_code(served: Portal):
    async with await served.anna() as anna:
        made = await anna.get("/portal/links?page=/pricing&campaign=mail")
        wrong = await anna.get("/portal/links?page=https://other.example/")
        code = await anna.get("/portal/qr.svg?page=/pricing&campaign=mail")

    assert "https://acme.example/pricing?aff=anna&campaign=mail" in words(made.text)
    assert "Enter a page of acme.example" in wrong.text
    assert code.headers["content-type"] == "image/svg+xml"


def test_a_translation_is_a_file_and_says_what_english_says_with_the_same_values():
    english = catalogue("en")
    for path in Path("tracking_api/portal/texts").glob("*.toml"):
        translated = catalogue(path.stem)
        for name, text in translated.items():
            assert {each[1] for each in Formatter().parse(text)} == {
                each[1] for each in Formatter().parse(english[name])
            }

    assert Texts("de-unknown").language == "en"
    assert str(Texts("en")("sign_in.sent", email="<b>")).count("&lt;b&gt;") == 1
