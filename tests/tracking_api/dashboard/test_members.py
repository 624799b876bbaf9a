"""A workspace's members over HTTP: owners change them, members read them, strangers see nothing."""

from storage.access import members, workspaces
from tests.tracking_api.dashboard.conftest import HASH, MAX, OLGA, Dashboard
from tests.world import NOW


async def id_of(dashboard: Dashboard, email: str) -> int:
    return (await dashboard.acme.store.read(members.find_member, dashboard.acme.workspace_id, email)).user_id


def path(dashboard: Dashboard, *parts: object) -> str:
    return "/".join(map(str, ("/api/workspaces", dashboard.acme.workspace_id, *parts)))


async def test_an_owner_suspends_reactivates_promotes_and_removes_a_member(dashboard: Dashboard):
    max_id = await id_of(dashboard, MAX)
    one = path(dashboard, "members", max_id)

    suspended = await dashboard.patch(one, status="suspended")
    out = await dashboard.get("/api/auth/me", MAX)
    reactivated = await dashboard.patch(one, status="active", role="owner")
    nothing = await dashboard.patch(one)
    removed = await dashboard.call("DELETE", one)
    gone = await dashboard.patch(one, role="member")

    assert (suspended.json()["status"], out.status_code) == ("suspended", 403)
    assert reactivated.json() == nothing.json()
    assert (nothing.json()["role"], nothing.json()["status"]) == ("owner", "active")
    assert (removed.json(), gone.status_code) == ({"success": True}, 404)
    assert MAX not in (await dashboard.get(path(dashboard, "members"))).text


async def test_ownership_is_transferred_and_the_last_owner_stays(dashboard: Dashboard):
    world_owner = await id_of(dashboard, "owner@acme.example")
    olga, max_id = await id_of(dashboard, OLGA), await id_of(dashboard, MAX)
    await dashboard.call("DELETE", path(dashboard, "members", world_owner))

    last = await dashboard.patch(path(dashboard, "members", olga), role="member")
    handed = await dashboard.post(path(dashboard, "owner"), user_id=max_id)
    again = await dashboard.post(path(dashboard, "owner"), user_id=olga)

    assert (last.status_code, last.json()["error"]["code"]) == (409, "last_owner")
    assert (handed.status_code, again.json()["error"]["code"]) == (200, "owner_required")
    assert (await dashboard.get("/api/auth/me", MAX)).json()["workspaces"][0]["role"] == "owner"


async def test_a_member_reads_and_a_stranger_does_not(dashboard: Dashboard):
    globex = await dashboard.acme.store.write(
        workspaces.create, "Globex", owner_email="gina@globex.example", password_hash=HASH, at=NOW
    )
    theirs = f"/api/workspaces/{globex.workspace_id}"
    own = path(dashboard, "members")

    assert len((await dashboard.get(own, MAX)).json()["data"]) == 3
    assert (await dashboard.patch(f"{own}/{globex.user_id}", MAX, role="owner")).json()["error"][
        "code"
    ] == "owner_required"
    for method, where in (("GET", "/members"), ("PATCH", "/members/1"), ("DELETE", "/members/1"), ("POST", "/owner")):
        answer = await dashboard.call(method, theirs + where, json={})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
    assert (await dashboard.patch(f"{own}/{globex.user_id}", role="owner")).status_code == 404
