"""The signed-in account: its password and its sessions."""

import httpx

from storage.access import accounts
from storage.engine.audit import OPERATOR
from tests.tracking_api.dashboard.conftest import FOREIGN, MAX, OLGA, PASSWORD, Dashboard
from tests.world import NOW

NEW = "tulip ferry nine"


async def change(dashboard: Dashboard, current: str = PASSWORD, new: str = NEW) -> httpx.Response:
    return await dashboard.post("/api/auth/password", current_password=current, new_password=new)


async def test_a_password_is_changed_by_who_knows_the_old_one_and_other_sessions_end(dashboard: Dashboard):
    other = (await dashboard.login()).json()["token"]

    changed = await change(dashboard)

    assert changed.json() == {"success": True}
    assert (await dashboard.get("/api/auth/me")).status_code == 200
    assert (await dashboard.get("/api/auth/me", other)).status_code == 403
    assert (await dashboard.login()).status_code == 401
    assert (await dashboard.login(password=NEW)).status_code == 200


async def test_a_wrong_old_and_a_weak_new_password_change_nothing(dashboard: Dashboard):
    for current, new, field in (
        ("wrong", NEW, "current_password"),
        (PASSWORD, "short", "new_password"),
        (PASSWORD, OLGA, "new_password"),
    ):
        answer = await change(dashboard, current, new)

        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "validation_error"), new
        assert [each["field"] for each in answer.json()["error"]["fields"]] == [field], new
    assert (await dashboard.login()).status_code == 200


async def test_a_stolen_session_cannot_guess_the_password_for_ever(dashboard: Dashboard):
    tries = [(await change(dashboard, "wrong")).status_code for _ in range(11)]

    assert tries == [400] * 10 + [429]


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


async def test_a_reset_link_opens_a_page_that_sets_the_password_once(dashboard: Dashboard):
    user_id = await dashboard.acme.store.read(accounts.find_id, OLGA)
    made = await dashboard.acme.store.write(accounts.create_reset_link, user_id, actor=OPERATOR, at=NOW)
    page = f"/reset-password/{made.token}"

    async def send(new: str, repeated: str, **headers: str) -> int:
        form = {"new_password": new, "repeated": repeated}
        return (await pages.post(page, data=form, headers=headers)).status_code

    async with dashboard.browser(None) as pages:
        rejected = [
            await send(NEW, NEW, **FOREIGN),
            await send(NEW, "another"),
            await send("password123", "password123"),
        ]
        shown = await pages.get(page)
        done = [await send(NEW, NEW), await send(NEW, NEW)]

    assert OLGA in shown.text
    assert rejected == [303, 400, 400]  # from another site: led to the sign-in, nothing set
    assert done == [303, 404]
    assert (await dashboard.get("/api/auth/me")).status_code == 403
    assert (await dashboard.login(password=NEW)).status_code == 200
