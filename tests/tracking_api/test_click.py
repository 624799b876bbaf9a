"""POST /api/v1/track/click."""

from typing import Any

from sqlalchemy import update

from storage.rules.attribution import OldLinks, PartnerStatus
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
    assert (await counted(api), await api.count(customers)) == (2, 0)


async def test_the_program_may_be_named_in_additional_data(api: Api):
    extra = {"program_id": api.acme.program_id}

    answer = await api.click(program_id=None, additional_data=extra)

    assert answer.json()["success"] is True


async def test_a_link_of_the_old_tool_works_in_a_program_that_says_so(api: Api):
    for old_links, other in ((OldLinks.VIA, "ref"), (OldLinks.FPR, "via"), (OldLinks.REF, "via")):
        program = await api.beside(old_links=old_links)

        accepted = await program.click(affiliate_url=f"{LANDING}?{old_links}=anna")
        elsewhere = await api.click(affiliate_url=f"{LANDING}?{old_links}=anna")
        another = await program.click(affiliate_url=f"{LANDING}?{other}=anna")

        assert accepted.json()["partner_code"] == "anna"
        assert [answer.json()["error"]["code"] for answer in (elsewhere, another)] == ["aff_missing"] * 2
    assert await counted(api) == 3


async def test_the_user_agent_falls_back_to_the_header(api: Api):
    await api.click(headers={"User-Agent": "FromTheHeader/1"})
    await api.click(headers={"User-Agent": "FromTheHeader/1"}, user_agent="FromTheBody/1")

    visitors = [row.visitor for row in await api.rows(clicks)]
    assert ["FromTheHeader/1" in visitors[0], "FromTheBody/1" in visitors[1]] == [True, True]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"program_id": None}, "program_id_required"),
    ({"program_id": 987_654}, "program_not_found"),
    ({"program_id": -1}, "program_not_found"),
    ({"affiliate_url": None}, "affiliate_url_required"),
    ({"affiliate_url": ""}, "invalid_affiliate_url"),
    ({"affiliate_url": "//acme.example/?aff=anna"}, "invalid_affiliate_url"),
    ({"affiliate_url": "javascript:alert(1)?aff=anna"}, "invalid_affiliate_url"),
    ({"affiliate_url": "https://[::1/?aff=anna"}, "invalid_affiliate_url"),
    ({"affiliate_url": f"{LANDING}#?aff=anna"}, "aff_missing"),
    ({"affiliate_url": f"{LANDING}?aff=nobody"}, "partner_not_found"),
]


async def test_a_wrong_click_is_named_and_not_stored(api: Api):
    for fields, code in WRONG:
        answer = await api.click(**fields)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, code), fields

    assert await api.count(clicks) == 0


async def test_a_visitor_carries_only_a_click_of_this_program(api: Api):
    carried = (await api.click()).json()["click_id"]
    elsewhere = (await (await api.beside()).click()).json()["click_id"]

    again, foreign, unknown = [
        (await api.click(existing_click_id=each)).json()["click_id"] for each in (carried, elsewhere, "made-up")
    ]

    assert again == carried
    assert len({carried, elsewhere, "made-up", foreign, unknown}) == 5


async def test_an_inactive_partner_or_program_counts_nothing(api: Api):
    partner = update(partners).where(partners.c.id == api.acme.anna)
    for statement in (partner.values(status=PartnerStatus.INACTIVE), update(programs).values(status="paused")):
        await api.acme.store.write(lambda connection, each=statement: connection.execute(each))

        answer = await api.click()

        assert answer.status_code == 200
        assert (answer.json()["success"], answer.json()["reason"]) == (False, "partner_inactive")
        await api.acme.store.write(lambda connection: connection.execute(partner.values(status=PartnerStatus.ACTIVE)))
    assert await api.count(clicks) == 0


async def test_bots_and_prefetches_get_the_usual_response_and_never_count(api: Api):
    for headers in (
        {"User-Agent": GOOGLEBOT},
        {"User-Agent": "Mozilla/5.0", "Sec-Purpose": "prefetch;prerender"},
        {"User-Agent": "Mozilla/5.0", "Purpose": "prefetch"},
        {"User-Agent": "Mozilla/5.0", "X-Moz": "prefetch"},
    ):
        answer = await api.click(headers=headers)
        assert (answer.status_code, answer.json()["success"]) == (200, True), headers

    assert [row.filtered for row in await api.rows(clicks)] == ["bot", *["prefetch"] * 3]
    assert await counted(api) == 0


async def test_a_head_request_gets_no_body_and_its_click_is_stored_as_filtered(api: Api):
    body = {"program_id": api.acme.program_id, "affiliate_url": f"{LANDING}?aff=anna"}

    without = await api.client.head("/api/v1/track/click")
    answer = await api.client.request("HEAD", "/api/v1/track/click", json=body)

    assert (without.status_code, answer.status_code, answer.content) == (200, 200, b"")
    assert [row.filtered for row in await api.rows(clicks)] == ["prefetch"]
    assert await counted(api) == 0


async def test_a_test_click_is_stored_apart(api: Api):
    for headers in ({}, api.keyed):
        answer = await api.click(additional_data={"test_mode": True}, headers=headers)

        stored = (await api.rows(test_events))[-1]
        assert answer.json()["data"] == {"eventId": stored.id, "programId": api.acme.program_id, "test_mode": True}
        assert (stored.kind, stored.is_test, stored.with_key) == ("click", True, bool(headers))
    assert await api.count(clicks) == 0


async def test_only_a_test_click_looks_at_a_key(api: Api):
    live = await api.click(headers={"Authorization": "Basic nonsense"})
    test = await api.click(additional_data={"test_mode": True}, headers={"Authorization": "Bearer aff_wrong"})

    assert live.json()["success"] is True
    assert (test.status_code, test.json()["error"]["code"]) == (401, "invalid_key")


async def test_a_click_stores_the_parts_of_its_urls_and_a_hash_of_the_network(api: Api):
    api.come_from("203.0.113.7")
    await api.click(affiliate_url=f"{LANDING}?aff=anna&gclid=personal", referrer_url="https://news.example/private?q=1")
    api.come_from("127.0.0.1")
    await api.click()

    row, local = await api.rows(clicks)
    assert (local.referrer_host, local.ad_markers, local.address_hash) == (None, None, None)
    assert (row.referrer_host, row.ad_markers) == ("news.example", "gclid")
    assert len(row.address_hash) == 24
    assert not [value for value in row if "203.0.113" in str(value)]
