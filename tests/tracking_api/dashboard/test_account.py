"""The signed-in account: its password, its sessions, its second factor, and how it wants to see pages."""

import re
from datetime import timedelta
from typing import Any

import httpx
import pyotp

from tests import documented
from tests.tracking_api.dashboard.conftest import MAX, OLGA, PASSWORD, Dashboard
from tests.tracking_api.dashboard.reading import csrf, hidden

NEW = "tulip ferry nine"
FACTOR = "/api/auth/second-factor"


async def change(dashboard: Dashboard, current: str = PASSWORD, new: str = NEW) -> httpx.Response:
    return await dashboard.post("/api/auth/password", current_password=current, new_password=new)


async def login(dashboard: Dashboard, password: str = PASSWORD, **fields: Any) -> tuple[int, str]:
    answer = await dashboard.post("/api/auth/login", None, email=OLGA, password=password, **fields)
    return answer.status_code, answer.json().get("error", {}).get("code", "")


async def turn_on(dashboard: Dashboard) -> tuple[pyotp.TOTP, list[str]]:
    """Turn Olga's second factor on; a minute later its first code is used up."""
    app = pyotp.TOTP((await dashboard.post(FACTOR, current_password=PASSWORD)).json()["secret"])
    confirmed = await dashboard.post(f"{FACTOR}/confirm", totp=app.at(dashboard.at))
    dashboard.at += timedelta(minutes=1)
    return app, confirmed.json()["recovery_codes"]


async def test_a_password_is_changed_by_who_knows_the_old_one_and_other_sessions_end(dashboard: Dashboard):
    other = (await dashboard.login()).json()["token"]

    changed = await change(dashboard)

    assert changed.json() == {"success": True}
    assert (await dashboard.get("/api/auth/me")).status_code == 200
    assert (await dashboard.get("/api/auth/me", other)).status_code == 403
    assert (await dashboard.login()).status_code == 401
    assert (await dashboard.login(password=NEW)).status_code == 200


async def test_a_wrong_old_and_a_weak_new_password_change_nothing_and_tries_are_limited(dashboard: Dashboard):
    weak = [(PASSWORD, each, "new_password") for each in ("short", OLGA)]
    for current, new, field in (("wrong", NEW, "current_password"), *weak):
        answer = await change(dashboard, current, new)

        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "validation_error"), new
        assert [each["field"] for each in answer.json()["error"]["fields"]] == [field], new
    assert (await dashboard.login()).status_code == 200
    assert [(await change(dashboard, "wrong")).status_code for _ in range(11)] == [400] * 10 + [429]


async def test_sessions_are_listed_and_ended_one_by_one_or_all_but_this(dashboard: Dashboard):
    tokens = [(await dashboard.login()).json()["token"] for _ in range(3)]
    listed = (await dashboard.get("/api/auth/sessions")).json()["data"]
    of_max = (await dashboard.get("/api/auth/sessions", MAX)).json()["data"]
    other = next(each for each in listed if not each["is_current"])

    ended = await dashboard.call("DELETE", f"/api/auth/sessions/{other['id']}")
    foreign = await dashboard.call("DELETE", f"/api/auth/sessions/{of_max[0]['id']}")

    assert [len(listed), len(of_max)] == [4, 1]
    assert other["client"].startswith("python-httpx")
    assert (ended.status_code, foreign.status_code) == (200, 404)
    assert sorted([(await dashboard.get("/api/auth/me", each)).status_code for each in tokens]) == [200, 200, 403]
    assert (await dashboard.call("DELETE", "/api/auth/sessions")).status_code == 200
    assert [(await dashboard.get("/api/auth/me", each)).status_code for each in tokens] == [403] * 3
    assert (await dashboard.get("/api/auth/me")).status_code == 200
    assert (await dashboard.get("/api/auth/me", MAX)).status_code == 200


async def test_signing_in_needs_a_code_that_was_not_used_before(dashboard: Dashboard):
    app, codes = await turn_on(dashboard)
    code = app.at(dashboard.at)

    assert (await dashboard.get(FACTOR)).json() == {"is_on": True}
    assert await login(dashboard) == (401, "second_factor_required")
    assert await login(dashboard, "wrong", totp=code) == (401, "invalid_credentials")
    assert await login(dashboard, totp="000000") == (401, "invalid_second_factor")
    assert await login(dashboard, totp=code) == (200, "")
    assert await login(dashboard, totp=code) == (401, "invalid_second_factor")
    assert await login(dashboard, totp=codes[0]) == (200, "")
    assert await login(dashboard, totp=codes[0]) == (401, "invalid_second_factor")


async def test_who_knows_the_password_cannot_guess_codes_for_ever(dashboard: Dashboard):
    app, _ = await turn_on(dashboard)
    async with dashboard.browser(None) as visitor:
        first = hidden((await visitor.post("/sign-in", data={"email": OLGA, "password": PASSWORD})).text)
        on_the_page = [await visitor.post("/sign-in", data=first | {"totp": f"{n:06}"}) for n in range(11)]
    assert [answer.status_code for answer in on_the_page] == [401] * 9 + [429] * 2
    dashboard.at += timedelta(days=1)

    sent, tries = {"email": OLGA, "password": PASSWORD, "totp": "000000"}, []
    for number in range(11):  # from as many networks, so that only the account's limit counts
        transport = documented.transport_to(dashboard.app, client=(f"203.0.113.{number}", 1))
        async with documented.client(transport) as elsewhere:
            tries.append((await elsewhere.post("/api/auth/login", json=sent)).status_code)

    assert tries[-1] == 429
    assert await login(dashboard, totp=app.at(dashboard.at)) == (429, "rate_limited")


async def test_a_session_alone_neither_enrols_nor_disables(dashboard: Dashboard):
    wrong = await dashboard.post(FACTOR, current_password="wrong")
    app, codes = await turn_on(dashboard)

    wrong_ones: tuple[dict[str, str], ...] = ({}, {"current_password": "wrong"}, {"totp": "000000"})
    rejected = [await dashboard.post(f"{FACTOR}/disable", **each) for each in wrong_ones]
    again = await dashboard.post(FACTOR, current_password=PASSWORD)
    done = await dashboard.post(f"{FACTOR}/disable", totp=codes[0])

    assert wrong.json()["error"]["fields"][0]["field"] == "current_password"
    assert [answer.status_code for answer in rejected] == [401, 400, 401]
    assert again.json()["error"]["code"] == "second_factor_exists"
    assert (done.status_code, await login(dashboard)) == (200, (200, ""))
    assert app.secret not in (await dashboard.get(FACTOR)).text


async def test_the_pages_turn_it_on_and_ask_for_the_code_in_a_second_step(dashboard: Dashboard):
    token = await csrf(olga := dashboard.olga)
    enrolled = await olga.post("/account", data={"csrf": token, "action": "enrol", "current_password": PASSWORD})
    secret = re.search(r"<code>([A-Z2-7]{32})</code>", enrolled.text)
    assert secret
    assert "segno" in enrolled.text  # the QR code
    app = pyotp.TOTP(secret[1])
    confirmed = await olga.post("/account", data={"csrf": token, "action": "confirm", "totp": app.at(dashboard.at)})
    dashboard.at += timedelta(minutes=1)
    first = await olga.post("/sign-in", data={"email": OLGA, "password": PASSWORD, "next": "/account"})
    proof = hidden(first.text)["proof"]

    async def enter(totp: str, proof: str = proof) -> httpx.Response:
        return await olga.post("/sign-in", data={"proof": proof, "next": "/account", "totp": totp})

    wrong, right = await enter("000000"), await enter(app.at(dashboard.at))
    forged = await enter("000000", f"x{proof}")
    dashboard.at += timedelta(minutes=5)
    late = await enter(app.at(dashboard.at))

    assert "recovery codes" in confirmed.text
    assert PASSWORD not in first.text
    assert [answer.status_code for answer in (first, wrong, right, forged, late)] == [200, 401, 303, 401, 401]
    assert right.headers["location"] == "/account"
