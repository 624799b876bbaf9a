"""POST /api/v1/track/click: the partner's link, the visitor's click, and what it says of the visitor."""

import json
import re
from pathlib import Path

from crawleruseragents import CRAWLER_USER_AGENTS_DATA

from configuration import Configuration
from storage.lists.events import EVENTS
from storage.management import partners
from storage.rules.attribution import OldLinks
from storage.rules.click_details import NOWHERE, Agent, Location
from storage.tables import clicks, customers, rollups, test_events
from tests.tracking_api.conftest import CALLS, Api
from tracking_api.calls import visitors

GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
LANDING = "https://acme.example/"
AGENTS = {text: Agent(**about) for text, about in CALLS["user_agents"].items()}
IPHONE, _, MAC, *_ = AGENTS


async def counted(api: Api) -> int:
    return sum(row.clicks for row in await api.rows(rollups))


async def test_a_click_gives_the_visitor_an_unguessable_id_that_stays(api: Api):
    first = (await api.click()).json()
    second = (await api.click(program_id=None, additional_data={"program_id": api.acme.program_id})).json()
    again, new = [(await api.click(existing_click_id=one)).json()["click_id"] for one in (first["click_id"], "made-up")]

    assert first["success"] is True
    assert (first["partner_code"], first["cookie_window_days"], again) == ("anna", 60, first["click_id"])
    assert len({first["click_id"], second["click_id"], new, "made-up"}) == 4
    assert len(first["click_id"]) >= 30
    assert (await counted(api), await api.count(customers)) == (3, 0)


async def test_a_link_of_the_old_tool_works_in_a_program_that_says_so(api: Api):
    program = await api.beside(old_links=OldLinks.VIA)

    accepted = await program.click(affiliate_url=f"{LANDING}?via=anna")
    elsewhere = await api.click(affiliate_url=f"{LANDING}?via=anna")
    another = await program.click(affiliate_url=f"{LANDING}?ref=anna")

    assert accepted.json()["partner_code"] == "anna"
    assert [answer.json()["error"]["code"] for answer in (elsewhere, another)] == ["aff_missing"] * 2
    assert await counted(api) == 1


async def test_a_wrong_click_is_named_and_not_stored(api: Api):
    for fields, code in CALLS["wrong_clicks"]:
        answer = await api.click(**fields)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, code), fields

    assert await api.count(clicks) == 0


async def test_an_inactive_partner_counts_nothing(api: Api):
    await api.acme.do(partners.change, api.acme.anna, {"status": "inactive"})

    answer = await api.click()

    assert (answer.status_code, answer.json()["success"], answer.json()["reason"]) == (200, False, "partner_inactive")
    assert await api.count(clicks) == 0


async def test_bots_and_prefetches_get_the_usual_response_and_never_count(api: Api):
    for headers in (
        {"User-Agent": GOOGLEBOT},
        {"User-Agent": MAC, "Sec-Purpose": "prefetch;prerender"},
        {"User-Agent": MAC, "Purpose": "prefetch"},
        {"User-Agent": MAC, "X-Moz": "prefetch"},
    ):
        answer = await api.click(headers=headers)
        assert (answer.status_code, answer.json()["success"]) == (200, True), headers
    body = {"program_id": api.acme.program_id, "affiliate_url": f"{LANDING}?aff=anna"}
    without = await api.client.head("/api/v1/track/click")
    answer = await api.client.request("HEAD", "/api/v1/track/click", json=body)

    assert (without.status_code, answer.status_code, answer.content) == (200, 200, b"")
    assert [row.filtered for row in await api.rows(clicks)] == ["bot", *["prefetch"] * 4]
    assert await counted(api) == 0


NEAR_BOTS = [
    *("Current" * 73, "Spider" * 85, "ContextualBot" * 39, "AdsBot-Google-", "AdsBot-Google", "AdsBot-Google x"),
    *("sentry/", "my sentry/1", "mysentry/1", "BW/1", "x BW/1", "Current x RSS Reader", "RSS Reader Current"),
    *("SSL Labs", "SSL Labs x", "\ud800 Googlebot"),
]


def test_the_matcher_gives_the_results_of_the_package_s_patterns():
    real = [name for bot in CRAWLER_USER_AGENTS_DATA[::3] for name in bot.get("instances", ())[:2]]
    patterns = re.compile("|".join(visitors.BOTS))

    for name in [*AGENTS, *NEAR_BOTS, *real, *(name[1:] for name in real), *(name[:-1] for name in real)]:
        assert visitors.is_bot(name) == bool(patterns.search(name)), name
    assert len(visitors.BOTS) > 1_000
    assert visitors.is_bot.cache_info().maxsize == 4096


async def test_a_test_click_is_stored_apart_and_alone_looks_at_a_key(api: Api):
    test = {"test_mode": True}
    for headers in ({}, api.keyed):
        answer = await api.click(additional_data=test, headers=headers)

        stored = (await api.rows(test_events))[-1]
        assert answer.json()["data"] == {"eventId": stored.id, "programId": api.acme.program_id, "test_mode": True}
        assert (stored.kind, stored.is_test, stored.with_key) == ("click", True, bool(headers))
    assert await api.count(clicks) == 0
    rejected = await api.click(additional_data=test, headers={"Authorization": "Bearer aff_wrong"})
    assert (rejected.status_code, rejected.json()["error"]["code"]) == (401, "invalid_key")
    assert (await api.click(headers={"Authorization": "Basic nonsense"})).json()["success"] is True


async def test_a_click_stores_its_dimensions_the_parts_of_its_urls_and_a_hash_of_the_network(api: Api):
    placed = Configuration(country_header="CF-IPCountry", region_header="CF-Region-Code", rate_limit=False)
    behind_a_proxy = Api(api.acme, placed)
    behind_a_proxy.come_from("203.0.113.7")
    urls = {"affiliate_url": f"{LANDING}pricing?aff=anna&utm_source=letter&gclid=personal"}
    urls["referrer_url"] = "https://news.example/private?q=1"
    headers = {"User-Agent": MAC, "CF-IPCountry": "DE", "CF-Region-Code": "BE"}
    async with behind_a_proxy.client:
        await behind_a_proxy.click(**urls, user_agent=IPHONE, language="de-DE", headers=headers)
    api.come_from("127.0.0.1")
    await api.click(headers=headers)

    row, local = await api.rows(clicks)
    of_agent = {"device": "mobile", "browser": "Safari", "os": "iOS"}
    of_request = {"landing_path": "/pricing", "utm_source": "letter", "language": "de"}
    assert json.loads(row.dimensions) == {**of_agent, **of_request, "country": "DE", "region": "DE-BE"}
    assert "country" not in json.loads(local.dimensions)  # no setting names the header
    assert (row.referrer_host, row.ad_markers, len(row.address_hash)) == ("news.example", "gclid", 24)
    assert (local.referrer_host, local.ad_markers, local.address_hash) == (None, None, None)
    assert [IPHONE in row.visitor, MAC in local.visitor] == [True, True]
    assert not [value for value in row if "203.0.113" in str(value)]


async def test_a_click_says_which_one_its_visitor_carried_also_if_that_one_stays(api: Api):
    first = (await api.click()).json()["click_id"]
    link = {"affiliate_url": f"{LANDING}?aff=ben", "existing_click_id": first}

    second = (await api.click(**link)).json()["click_id"]
    await api.acme.change(attribution_model="first_click")
    stays = (await api.click(**link)).json()["click_id"]

    stored = await api.rows(clicks)
    rows = {(row.partner_id, row.filtered): json.loads(row.visitor).get("existing_click_id") for row in stored}
    ben = api.acme.ben
    assert (second != first, stays) == (True, first)
    assert rows == {(api.acme.anna, None): None, (ben, None): first, (ben, "first_click"): first}
    assert {each.id for each in (await api.acme.listed(EVENTS)).data} == {first, second}
    assert await counted(api) == 2


def test_a_user_agent_says_device_browser_and_system_and_a_hostile_one_little():
    assert {text: visitors.agent_of(text) for text in AGENTS} == AGENTS
    for text in ("A" * 100_000, "Mozilla/5.0 (" * 500, "Chrome/\x00\u202e", ""):
        assert all(value is None or (value.isprintable() and len(value) <= 100) for value in visitors.agent_of(text))


def test_a_file_tells_the_place_of_an_address_where_no_header_does():
    upper_half_in_california = Path(__file__).with_name("places.mmdb")
    settings = Configuration(country_header="x-country", geo_database=upper_half_in_california)
    places = visitors.Places(settings)

    assert places.of({}, "203.0.113.7") == Location("US", "US-CA")
    assert places.of({b"x-country": b"DE"}, "203.0.113.7") == Location("DE")
    assert places.of({b"x-country": b"XX"}, "203.0.113.7") == Location("US", "US-CA")
    assert [places.of({}, each) for each in ("98.51.100.1", "2001:db8::1", "unknown")] == [NOWHERE] * 3
