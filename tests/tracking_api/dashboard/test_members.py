"""A workspace's members over HTTP: owners change them, members read them, strangers see nothing."""

import httpx

from storage.access import members
from storage.access.workspaces import Role
from tests.tracking_api.dashboard.conftest import MAX, OLGA, Dashboard
from tests.tracking_api.dashboard.reading import csrf, follow, words

OWNER = "owner@acme.example"


async def id_of(dashboard: Dashboard, email: str) -> int:
    return (await dashboard.acme.store.read(members.find_member, dashboard.acme.workspace_id, email)).user_id


def path(dashboard: Dashboard, *parts: object) -> str:
    return "/".join(map(str, ("/api/workspaces", dashboard.acme.workspace_id, *parts)))


async def test_an_owner_suspends_reactivates_promotes_and_removes_a_member_and_hands_over(dashboard: Dashboard):
    olga, max_id = await id_of(dashboard, OLGA), await id_of(dashboard, MAX)
    one = path(dashboard, "members", max_id)
    await dashboard.call("DELETE", path(dashboard, "members", await id_of(dashboard, OWNER)))
    assert len((await dashboard.get(path(dashboard, "members"), MAX)).json()["data"]) == 2
    last = await dashboard.patch(path(dashboard, "members", olga), role="member")

    suspended = await dashboard.patch(one, status="suspended")
    out = await dashboard.get("/api/auth/me", MAX)
    reactivated = await dashboard.patch(one, status="active", role="owner")
    nothing = await dashboard.patch(one)
    removed = await dashboard.call("DELETE", one)
    gone = await dashboard.patch(one, role="member")
    await dashboard.join("eva@acme.example", Role.MEMBER)
    eva = await id_of(dashboard, "eva@acme.example")
    handed, again = [await dashboard.post(path(dashboard, "owner"), user_id=user) for user in (eva, olga)]

    assert (suspended.json()["status"], out.status_code) == ("suspended", 403)
    assert reactivated.json() == nothing.json()
    assert (nothing.json()["role"], nothing.json()["status"]) == ("owner", "active")
    assert (removed.json(), gone.status_code) == ({"success": True}, 404)
    assert (last.status_code, last.json()["error"]["code"]) == (409, "last_owner")
    assert (handed.status_code, again.json()["error"]["code"]) == (200, "owner_required")
    listed = (await dashboard.get(path(dashboard, "members"))).json()["data"]
    assert {each["email"]: each["role"] for each in listed} == {OLGA: "member", "eva@acme.example": "owner"}


async def test_the_page_changes_members_but_not_the_last_owner_and_hands_the_workspace_over(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    place, token = f"{dashboard.pages}/settings/members", await csrf(olga)
    ids = {email: await id_of(dashboard, email) for email in (OLGA, MAX, OWNER)}

    async def do(action: str, who: str) -> httpx.Response:
        form = {"action": action, "user": ids[who], "csrf": token, "confirmed": "yes"}
        return await olga.post(place, data=form)

    suspended = await follow(olga, await do("suspend", MAX))
    await do("reactivate", MAX)
    await do("remove", OWNER)
    last = await do("make-member", OLGA)
    handed = await do("hand-over", MAX)

    listed = (await dashboard.get(path(dashboard, "members"))).json()["data"]
    assert f"{MAX} Member Suspended" in suspended
    assert f"{OLGA} (you) Owner" in suspended
    assert (last.status_code, 'role="alert"' in last.text, handed.status_code) == (400, True, 303)
    assert "owner" in words(last.text.partition('role="alert"')[2].partition("</")[0])
    assert {each["email"]: each["role"] for each in listed} == {MAX: "owner", OLGA: "member"}
