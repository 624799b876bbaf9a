"""`svc doctor`: a healthy shop has no problem, and each way to be wrong is found and comes with its fix."""

import asyncio
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler

import pytest

from cli.integrator import doctor as command
from cli.integrator import page_checks
from storage.access import program_keys
from tests import stripe_events as stripe
from tests.browser.shop import Shop as WebShop
from tests.cli.integrator.conftest import SHOPS, Shop, connect
from tests.forked import Done
from tests.storage.payments.paying import take

NO_BROWSER = {"PATH": "/nonexistent"}


def tag(shop: Shop, attributes: str = "", *, source: str = "", program: object = None) -> str:
    source = source or f"{shop.server.base_url}/js/svc-tracker.js"
    return f'<script src="{source}" data-svc-program-id="{program or shop.acme.program_id}" {attributes}></script>'


async def doctor(shop: Shop, web: WebShop, **environment: str) -> Done:
    key = {"SERVICE_API_KEY": shop.acme.key, "SERVICE_PROGRAM_ID": str(shop.acme.program_id)}
    return await shop.svc("doctor", web.url(), "--json", **NO_BROWSER | key | environment)


def codes(done: Done, *, problems: bool = True) -> list[str]:
    return [each["code"] for each in done.json["findings"] if each["is_problem"] or not problems]


async def test_a_healthy_shop_has_no_problem_and_ci_passes(shop: Shop, web: WebShop):
    web.page = tag(shop)
    web.headers = {"Content-Security-Policy": f"script-src {shop.server.base_url}; connect-src {shop.server.base_url}"}

    done = await doctor(shop, web)
    checked = await shop.svc("doctor", web.url(), **NO_BROWSER, SERVICE_API_KEY=shop.acme.key)

    assert (done.code, codes(done), done.json["problems"]) == (0, [], 0), done.stdout
    assert codes(done, problems=False) == ["cookie_by_script_only"]
    assert "No problem found on http" in checked.stdout


async def test_a_shop_with_problems_fails_ci_and_each_has_its_fix(shop: Shop, web: WebShop):
    web.page = "<h1>No tracker"
    web.files["/.svc/.env"] = "SERVICE_API_KEY=aff_1"
    at = datetime.now(UTC)
    await shop.acme.do(program_keys.flag, rotate_by=at + timedelta(9), at=at)

    done = await doctor(shop, web, SERVICE_PROGRAM_ID="77")
    wrong_key = await doctor(shop, web, SERVICE_API_KEY="aff_wrong")

    assert (done.code, codes(done)) == (1, ["other_key", "key_rotation", "key_published", "tracker_missing"])
    assert all(each["fix"] for each in done.json["findings"])
    assert (wrong_key.code, codes(wrong_key)) == (1, ["invalid_key", "key_published", "tracker_missing"])


async def test_payments_without_metadata_are_found_with_the_key_alone(shop: Shop, web: WebShop):
    web.page = tag(shop)
    await connect(shop)
    none_yet = await doctor(shop, web)

    await take(shop.acme, stripe.checkout())
    organic = await doctor(shop, web)
    named = {"svc_customer_key": "user-1", "program_id": str(shop.acme.program_id)}
    await take(shop.acme, stripe.checkout("evt_2", metadata=named, payment_intent="pi_2"))
    fine = await doctor(shop, web)

    assert [each.partition(" (")[0] for each in fine.json["skipped"]] == ["browser"]
    assert [codes(each) for each in (none_yet, organic, fine)] == [["no_payment_events"], ["metadata_missing"], []]


@pytest.mark.browser
async def test_a_browser_sees_a_tag_that_a_script_adds_and_a_policy_that_forbids_it(shop: Shop, web: WebShop):
    add = "const s = document.createElement('script'); s.src = '{}/js/svc-tracker.js'; {} document.head.append(s)"
    web.page = f"<script>{add.format(shop.server.base_url, 's.dataset.svcProgramId = 1;')}</script>"

    page = await asyncio.to_thread(page_checks.fetch, web.url())
    web.headers = {"Content-Security-Policy": "script-src 'unsafe-inline'"}
    forbidden = await asyncio.to_thread(page_checks.fetch, web.url())

    assert [each.source for each in page.tags] == [f"{shop.server.base_url}/js/svc-tracker.js"]
    assert page.console == []
    assert "Content Security Policy" in "".join(forbidden.console or ())


async def test_what_is_wrong_with_a_page_is_found(shop: Shop, web: WebShop, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    about = {"base_url": shop.server.base_url, "program_id": str(shop.acme.program_id)}
    about["domain"] = "0.0.1"  # of the shop at 127.0.0.1

    for each in SHOPS["page"]:
        web.page, web.headers = tag(shop, each.get("attributes", ""), **each.get("tag", {})), each.get("headers", {})
        page = await asyncio.to_thread(page_checks.fetch, web.url())
        findings = await asyncio.to_thread(list[page_checks.ShopFinding], page_checks.check(page, **about))

        found = {each.code for each in findings}
        assert found - {"cookie_by_script_only"} == {*each["found"]}, each
        assert ("cookie_by_script_only" in found) == ("Set-Cookie" not in web.headers)


def test_a_machine_whose_clock_is_wrong_is_found(web: WebShop, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(BaseHTTPRequestHandler, "date_time_string", lambda _: "Wed, 21 Oct 2015 07:28:00 GMT")

    assert [each.code for each in command.check_clock(web.url(""))] == ["clock"]


def test_a_policy_is_read_as_browsers_read_it():
    url, page, policies = "https://t.example/js/svc-tracker.js", "https://shop.example/", SHOPS["policies"]

    assert {text: page_checks.allows(text, "script", url, page_url=page, nonce="abc") for text in policies} == policies
