"""POST /api/v1/track/click."""

from typing import Any

import pytest
from sqlalchemy import update

from storage.rules.attribution import AttributionModel, OldLinks, PartnerStatus, ProgramStatus
from storage.tables import clicks, customers, partners, programs, rollups, test_events
from tests.tracking_api.conftest import Api

GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
LANDING = "https://acme.example/"


async def counted(api: Api) -> int:
    return sum(row.clicks for row in await api.rows(rollups))


async def test_a_click_gives_the_visitor_an_unguessable_id(api: Api):
    first, second = (await api.click()).json(), (await api.click()).json()

    assert first["success"] is True
    assert (first["partner_code"], first["cookie_window_days"]) == ("anna", 60)
    assert first["click_id"] != second["click_id"]
    assert len(first["click_id"]) >= 30
    assert await counted(api) == 2


async def test_the_program_may_be_named_in_additional_data(api: Api):
    extra = {"program_id": api.acme.program_id}

    answer = await api.click(program_id=None, additional_data=extra)

    assert answer.json()["success"] is True


@pytest.mark.parametrize(("old_links", "query"), [("via", "via=anna"), ("fpr", "fpr=anna"), ("ref", "ref=anna")])
async def test_a_link_of_the_old_tool_works_in_a_program_that_says_so(old_links: str, query: str, api: Api):
    program = await api.beside(old_links=OldLinks(old_links))

    accepted = await program.click(affiliate_url=f"{LANDING}?{query}")
    elsewhere = await api.click(affiliate_url=f"{LANDING}?{query}")
    another = await program.click(affiliate_url=f"{LANDING}?{'ref' if old_links == 'via' else 'via'}=anna")

    assert accepted.json()["partner_code"] == "anna"
    assert [answer.json()["error"]["code"] for answer in (elsewhere, another)] == ["aff_missing", "aff_missing"]
    assert await counted(api) == 1


async def test_the_user_agent_falls_back_to_the_header(api: Api):
    await api.click(headers={"User-Agent": "FromTheHeader/1"})
    await api.click(headers={"User-Agent": "FromTheHeader/1"}, user_agent="FromTheBody/1")

    visitors = [row.visitor for row in await api.rows(clicks)]
    assert ["FromTheHeader/1" in visitors[0], "FromTheBody/1" in visitors[1]] == [True, True]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"program_id": None}, "program_id_required"),
        ({"program_id": 987_654}, "program_not_found"),
        ({"program_id": 0}, "program_not_found"),
        ({"program_id": -1}, "program_not_found"),
        ({"affiliate_url": None}, "affiliate_url_required"),
        ({"affiliate_url": ""}, "invalid_affiliate_url"),
        ({"affiliate_url": "/landing?aff=anna"}, "invalid_affiliate_url"),
        ({"affiliate_url": "//acme.example/?aff=anna"}, "invalid_affiliate_url"),
        ({"affiliate_url": "javascript:alert(1)?aff=anna"}, "invalid_affiliate_url"),
        ({"affiliate_url": "ftp://acme.example/?aff=anna"}, "invalid_affiliate_url"),
        ({"affiliate_url": "https://?aff=anna"}, "invalid_affiliate_url"),
        ({"affiliate_url": "https://[::1/?aff=anna"}, "invalid_affiliate_url"),
        ({"affiliate_url": LANDING}, "aff_missing"),
        ({"affiliate_url": f"{LANDING}?aff="}, "aff_missing"),
        ({"affiliate_url": f"{LANDING}#?aff=anna"}, "aff_missing"),
        ({"affiliate_url": f"{LANDING}?aff=nobody"}, "partner_not_found"),
    ],
)
async def test_a_wrong_click_is_named_and_not_stored(api: Api, fields: dict[str, Any], code: str):
    answer = await api.click(**fields)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
    assert await api.count(clicks) == 0


async def test_the_response_has_the_visitors_existing_click(api: Api):
    carried = (await api.click()).json()["click_id"]

    again = await api.click(existing_click_id=carried)

    assert again.json()["click_id"] == carried
    assert await counted(api) == 1


async def test_an_unknown_cookie_gets_a_new_click(api: Api):
    answer = await api.click(existing_click_id="made-up")

    assert answer.json()["click_id"] != "made-up"


async def test_with_last_click_the_later_partner_is_credited(api: Api):
    carried = (await api.click()).json()["click_id"]

    taken = (await api.click(existing_click_id=carried, affiliate_url=f"{LANDING}?aff=ben")).json()

    assert taken["click_id"] != carried
    assert taken["partner_code"] == "ben"


async def test_with_first_click_the_first_partner_is_credited(api: Api):
    first_click = await api.beside(attribution_model=AttributionModel.FIRST_CLICK)
    carried = (await first_click.click()).json()["click_id"]

    kept = (await first_click.click(existing_click_id=carried, affiliate_url=f"{LANDING}?aff=ben")).json()

    assert (kept["click_id"], kept["partner_code"]) == (carried, "anna")


async def test_the_click_of_another_program_is_replaced(api: Api):
    globex = await api.beside()
    carried = (await globex.click()).json()["click_id"]

    answer = await api.click(existing_click_id=carried)

    assert answer.json()["click_id"] != carried


@pytest.mark.parametrize("what", ["partner", "program"])
async def test_an_inactive_partner_or_program_counts_nothing(api: Api, what: str):
    partner = update(partners).where(partners.c.id == api.acme.anna).values(status=PartnerStatus.INACTIVE)
    paused = update(programs).where(programs.c.id == api.acme.program_id).values(status=ProgramStatus.PAUSED)
    await api.acme.store.write(lambda connection: connection.execute(partner if what == "partner" else paused))

    answer = await api.click()

    assert answer.status_code == 200
    assert (answer.json()["success"], answer.json()["reason"]) == (False, "partner_inactive")
    assert await api.count(clicks) == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"User-Agent": GOOGLEBOT},
        {"User-Agent": "Mozilla/5.0", "Sec-Purpose": "prefetch;prerender"},
        {"User-Agent": "Mozilla/5.0", "Purpose": "prefetch"},
    ],
)
async def test_bots_and_prefetches_get_the_usual_response_and_never_count(api: Api, headers: dict[str, str]):
    answer = await api.click(headers=headers)

    assert (answer.status_code, answer.json()["success"]) == (200, True)
    assert [row.filtered is not None for row in await api.rows(clicks)] == [True]
    assert await counted(api) == 0


async def test_a_head_request_is_stored_as_filtered_and_gets_no_body(api: Api):
    body = {"program_id": api.acme.program_id, "affiliate_url": f"{LANDING}?aff=anna"}

    answer = await api.client.request("HEAD", "/api/v1/track/click", json=body)

    assert (answer.status_code, answer.content) == (200, b"")
    assert [row.filtered for row in await api.rows(clicks)] == ["prefetch"]
    assert await counted(api) == 0


async def test_a_head_request_without_a_click_stores_nothing(api: Api):
    answer = await api.client.head("/api/v1/track/click")

    assert answer.status_code == 200
    assert await api.count(clicks) == 0


async def test_a_click_creates_no_customer(api: Api):
    await api.click()

    assert await api.count(customers) == 0


@pytest.mark.parametrize("with_key", [True, False])
async def test_a_test_click_is_stored_apart(api: Api, *, with_key: bool):
    headers = api.keyed if with_key else {}

    answer = await api.click(additional_data={"test_mode": True}, headers=headers)

    stored = (await api.rows(test_events))[0]
    assert answer.json()["data"] == {"eventId": stored.id, "programId": api.acme.program_id, "test_mode": True}
    assert (stored.kind, stored.is_test, stored.with_key) == ("click", True, with_key)
    assert await api.count(clicks) == 0


async def test_a_live_click_ignores_a_key(api: Api):
    answer = await api.click(headers={"Authorization": "Basic nonsense"})

    assert answer.json()["success"] is True


async def test_a_test_click_with_a_wrong_key_is_rejected(api: Api):
    answer = await api.click(additional_data={"test_mode": True}, headers={"Authorization": "Bearer aff_wrong"})

    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_key")


async def test_a_click_stores_the_parts_of_its_urls_and_a_hash_of_the_network(api: Api):
    api.come_from("203.0.113.7")
    await api.click(affiliate_url=f"{LANDING}?aff=anna&gclid=personal", referrer_url="https://news.example/private?q=1")

    (row,) = await api.rows(clicks)
    assert (row.referrer_host, row.ad_markers) == ("news.example", "gclid")
    assert len(row.address_hash) == 24
    assert not [value for value in row if "203.0.113" in str(value)]


async def test_a_click_from_this_machine_has_no_hash(api: Api):
    await api.click()

    (row,) = await api.rows(clicks)
    assert (row.referrer_host, row.ad_markers, row.address_hash) == (None, None, None)
