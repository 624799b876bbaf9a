"""Events, customers and rejected calls: what happened, live and filtered, and strangers' text as text."""

from playwright.async_api import expect

from tests.tracking_api.dashboard.pages.conftest import Site

HOSTILE = "<img src=x onerror=alert(1)>\u202etxt.exe\u200b"


async def test_the_list_is_filtered_without_loading_the_page_again(site: Site):
    await site.sell()
    page = await site.sign_in()
    await page.goto(f"{site.program}/events")
    await expect(page.locator("tbody tr")).to_have_count(3)
    await page.evaluate("window.stayed = true")

    await page.get_by_label("Kind").select_option("sale")

    await expect(page.locator("tbody tr")).to_have_count(1)
    assert await page.evaluate("window.stayed")
    assert "kind=sale" in page.url


async def test_a_live_list_shows_new_events(site: Site):
    await site.sell()
    page = await site.sign_in()
    await page.goto(f"{site.program}/events")
    await page.get_by_label("Live: refresh every 3 seconds").check()
    await expect(page.locator("#log")).to_have_attribute("hx-trigger", "every 3s")

    await site.sell("user-2", "inv-2")

    await expect(page.locator("tbody tr")).to_have_count(6)


async def test_untrusted_text_is_shown_as_text(site: Site):
    await site.sell(page_title=HOSTILE, referrer_url=f"https://x.example/{HOSTILE}")
    page = await site.sign_in()

    await page.goto(f"{site.program}/events")

    await expect(page.get_by_text("<img src=x onerror=alert(1)>txt.exe").first).to_be_visible()
    assert await page.locator("tbody img").count() == 0


async def test_the_timeline_of_a_customer_is_in_chronological_order(site: Site):
    await site.sell()
    await site.call("/api/v1/track/refund", {"transaction_id": "inv-1", "refund_amount_cents": 2_500})
    page = await site.sign_in()
    await page.goto(f"{site.program}/customers")

    await page.get_by_role("link", name="user-1").click()

    kinds = [text.split()[0] for text in await page.locator(".trail h3").all_inner_texts()]
    assert kinds == ["Click", "Lead", "Sale", "Commission", "Refund"]
    await expect(page.locator(".trail")).to_contain_text("now worth $15.00")


async def test_refused_calls_are_grouped_by_cause_with_what_to_do(site: Site):
    for transaction in ("inv-7", "inv-8"):
        sale = {"customer_key": "nobody", "transaction_id": transaction, "amount_cents": 100}
        assert (await site.call("/api/v1/track/sale", sale)).status_code == 400
    page = await site.sign_in()

    await page.goto(f"{site.program}/refused-calls")

    await expect(page.get_by_role("heading", name="No customer of this program")).to_be_visible()
    await expect(page.locator(".cause")).to_contain_text("customer_not_found")
    await expect(page.locator(".count")).to_have_text("2 calls")
    await expect(page.locator(".cause")).to_contain_text("What to do")
    await page.get_by_text("The latest calls").click()
    await expect(page.get_by_role("cell", name="inv-7")).to_be_visible()
    await expect(page.get_by_role("cell", name="$1.00")).to_have_count(2)
    await expect(page.get_by_text("Sales not recorded: $2.00")).to_be_visible()
