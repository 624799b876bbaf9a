"""Signing in and out, with the API and on the page: whom it lets in, for how long, and where it leads."""

import logging
from datetime import timedelta

import httpx
import pytest
from sqlalchemy import select

from storage.access import accounts, passwords
from storage.rules import keys
from storage.tables import sessions as stored
from tests.tracking_api.dashboard.conftest import FOREIGN, HASH, MAX, OLGA, PASSWORD, Dashboard
from tests.tracking_api.dashboard.reading import csrf, hidden
from tests.world import NOW

CREDENTIALS = {"email": OLGA, "password": PASSWORD}


async def test_a_member_signs_in_and_is_known_by_the_token_and_a_hash_of_earlier_parameters_is_renewed(
    dashboard: Dashboard,
):
    _, answer = [(await dashboard.login()).json() for _ in range(2)]

    me = (await dashboard.get("/api/auth/me", answer["token"])).json()
    stored_hash = await dashboard.acme.store.read(accounts.find_hash, OLGA)
    assert (passwords.is_outdated(HASH), passwords.is_outdated(stored_hash or HASH)) == (True, False)
    assert answer["expires_at"] == "2026-06-03T12:00:00Z"
    assert me["user"]["email"] == answer["user"]["email"] == OLGA
    assert me["workspaces"] == [{"id": dashboard.acme.workspace_id, "name": "Acme", "role": "owner"}]


async def test_the_e_mail_address_ignores_case_and_a_wrong_one_gets_the_error_of_a_wrong_password(dashboard: Dashboard):
    right = await dashboard.login(f" {OLGA.upper()} ")
    wrong = [await dashboard.login(email, "wrong") for email in (OLGA, "stranger@acme.example", "no address")]
    without = await dashboard.post("/api/auth/login", None, email=5)

    assert right.status_code == 200
    assert [(each.status_code, each.json()["error"]["code"]) for each in wrong] == [(401, "invalid_credentials")] * 3
    assert without.json()["error"]["code"] == "validation_error"
    assert {field["field"] for field in without.json()["error"]["fields"]} == {"email", "password"}


async def test_the_eleventh_wrong_try_gets_429_and_right_ones_are_not_counted(dashboard: Dashboard):
    right = [(await dashboard.login()).status_code for _ in range(11)]
    tries = [await dashboard.login(password="wrong") for _ in range(11)]

    assert right == [200] * 11
    assert [answer.status_code for answer in tries] == [401] * 10 + [429]
    assert int(tries[-1].headers["Retry-After"]) >= 1
    assert (await dashboard.login()).status_code == 429
    assert (await dashboard.login(MAX)).status_code == 200


async def test_a_session_ends_when_its_owner_signs_out_or_after_three_days_unused_or_fourteen(dashboard: Dashboard):
    out, again = [await dashboard.post("/api/auth/logout") for _ in range(2)]

    assert (out.json(), again.status_code) == ({"success": True}, 200)
    assert (await dashboard.get("/api/auth/me")).json()["error"]["code"] == "forbidden"
    for days, status in ((2.9, 200), (5.8, 200), (8.7, 200), (11.6, 200), (13.9, 200), (14, 403)):
        dashboard.at = NOW + timedelta(days=days)
        assert (await dashboard.get("/api/auth/me", MAX)).status_code == status, days
    dashboard.at = NOW
    used = (await dashboard.login()).json()["token"]
    for hours, status in ((0.9, 200), (72.1, 403)):  # the last request is known to the hour
        dashboard.at = NOW + timedelta(hours=hours)
        assert (await dashboard.get(".", used)).status_code == status, hours


async def test_a_token_is_stored_as_its_hash_and_logged_nowhere(dashboard: Dashboard, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    dashboard.at = NOW + timedelta(days=15)
    token = (await dashboard.login()).json()["token"]

    rows = await dashboard.acme.store.read(lambda connection: connection.execute(select(stored)).all())
    assert keys.digest(token) in {row.token_hash for row in rows}
    assert len(rows) == 2  # Olga's new one, which ended hers that had expired, and Max's until Max comes back
    assert token not in f"{rows}{caplog.text}"
    assert PASSWORD not in caplog.text


async def test_the_cookie_of_our_pages_works_only_from_our_pages(dashboard: Dashboard):
    cookie = {"Cookie": f"svc_session={dashboard.tokens[OLGA]}"}

    async def rename(**headers: str) -> int:
        answer = await dashboard.call("PATCH", ".", None, json={"name": "New"}, headers=cookie | headers)
        return answer.status_code

    assert (await dashboard.call("GET", ".", None, headers=cookie)).status_code == 200
    assert await rename() == 403
    assert await rename(Origin="http://evil.test") == 403
    assert await rename(Origin="http://svc.test", **{"Sec-Fetch-Site": "cross-site"}) == 403
    assert await rename(**{"Sec-Fetch-Site": "same-site"}) == 403
    assert await rename(**{"Sec-Fetch-Site": "same-origin"}) == 200
    assert await rename(Origin="http://svc.test") == 200


async def test_signing_in_returns_to_the_requested_page_with_a_cookie_that_no_script_can_read(dashboard: Dashboard):
    async with dashboard.browser(None) as visitor:
        led = await visitor.get(f"{dashboard.pages}/partners")
        form = await visitor.get(led.headers["location"])
        wrong = await visitor.post("/sign-in", data=hidden(form.text) | CREDENTIALS | {"password": "wrong"})
        entered = await visitor.post("/sign-in", data=hidden(wrong.text) | CREDENTIALS)
        page = await visitor.get(entered.headers["location"])

    assert (wrong.status_code, 'role="alert"' in wrong.text, f'value="{OLGA}"' in wrong.text) == (401, True, True)
    assert entered.headers["location"] == f"{dashboard.pages}/partners"
    assert "; HttpOnly; Max-Age=1209600; Path=/; SameSite=lax" in entered.headers["set-cookie"]
    assert page.status_code == 200


async def test_signing_in_is_rejected_from_another_site_and_leads_to_no_other_site(dashboard: Dashboard):
    async with dashboard.browser(None, Origin="https://evil.example") as evil, dashboard.browser(None) as visitor:
        rejected = [
            await evil.post("/sign-in", data=CREDENTIALS),
            await visitor.post("/sign-in", data=CREDENTIALS, headers=FOREIGN),
        ]
    for answer in rejected:
        assert (answer.status_code, answer.headers["location"].startswith("/sign-in")) == (303, True)
        assert "svc_session" not in answer.cookies

    for wanted in ("https://evil.example", "//evil.example", "/programs/../../evil", "/\\evil.example"):
        async with dashboard.browser(None) as visitor:
            entered = await visitor.post("/sign-in", data=CREDENTIALS | {"next": wanted})

        assert (entered.status_code, entered.headers["location"]) == (303, "/programs"), wanted


async def test_signing_out_ends_the_session_and_not_only_the_cookie(dashboard: Dashboard, olga: httpx.AsyncClient):
    out = await olga.post("/sign-out", data={"csrf": await csrf(olga)})
    shown = await olga.get(out.headers["location"])
    async with dashboard.browser() as with_the_old_cookie:
        page = await with_the_old_cookie.get(dashboard.pages)

    assert 'svc_session=""' in out.headers["set-cookie"]
    assert "You are signed out." in shown.text
    assert page.headers["location"] == "/sign-in?next=%2Fprograms%2F1"
