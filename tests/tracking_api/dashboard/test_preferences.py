"""How people see pages: the account's name, theme and time format, the workspace's name, time zone and logo."""

import base64

import httpx

from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.tracking_api.dashboard.reading import csrf

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


async def test_a_person_chooses_a_name_a_theme_and_a_time_format(dashboard: Dashboard, olga: httpx.AsyncClient):
    token = await csrf(olga)
    chosen = {"name": "Olga O.", "theme": "dark", "time_format": "12", "action": "preferences", "csrf": token}

    saved = await olga.post("/account", data=chosen)
    page = (await olga.get("/account")).text
    async with dashboard.browser(MAX) as other:
        members = (await other.get(f"{dashboard.pages}/settings/members")).text
        plain = (await other.get("/account")).text
    bad = await olga.post("/account", data={**chosen, "name": "x" * 200, "theme": "pink"})

    assert saved.status_code == 303
    assert ('data-theme="dark"' in page, ">May 20, 2026, 12:00 PM<" in page) == (True, True)
    assert ("data-theme" in plain, ">May 20, 2026, 12:00<" in plain) == (False, True)
    assert "Olga O." in members
    assert (bad.status_code, "Enter at most 160 letters" in bad.text) == (400, True)


async def test_times_are_in_the_time_zone_of_the_workspace(dashboard: Dashboard, olga: httpx.AsyncClient):
    place = f"{dashboard.pages}/settings/workspace"
    token = await csrf(olga)

    unknown = await olga.post(place, data={"name": "Acme", "time_zone": "Mars/Base", "csrf": token})
    saved = await olga.post(place, data={"name": "Acme & Co", "time_zone": "America/New_York", "csrf": token})
    account = (await olga.get("/account")).text
    log = (await olga.get(f"{dashboard.pages}/settings/audit-log")).text
    async with dashboard.browser(MAX) as other:
        rejected = await other.post(place, data={"name": "Max's", "time_zone": "UTC", "csrf": await csrf(other)})

    assert (unknown.status_code, "Choose a time zone of the list" in unknown.text) == (400, True)
    assert (saved.status_code, rejected.status_code) == (303, 403)
    assert ">May 20, 2026, 08:00<" in account
    assert "Since (New York time)" in account
    assert "Acme &amp; Co" in log


async def test_a_logo_is_a_small_image_that_only_members_see(dashboard: Dashboard, olga: httpx.AsyncClient):
    place = f"{dashboard.pages}/settings/workspace"
    token = {"csrf": await csrf(olga)}
    api = f"/api/workspaces/{dashboard.acme.workspace_id}/logo"

    async def upload(content: bytes, **fields: str) -> httpx.Response:
        return await olga.post(f"{place}/logo", data=fields or token, files={"logo": ("logo.png", content)})

    rejected = [await upload(each) for each in (SVG, PNG + b"0" * 50_000, PNG + b"0" * 90_000, b"")]
    forged = await upload(PNG, csrf="guessed")
    before = (await olga.get(place)).text
    saved = await upload(PNG)
    address = (await olga.get(place)).text.partition('src="/workspaces/')[2].partition('"')[0]
    logo = await olga.get(f"/workspaces/{address}")
    stranger = await olga.get(f"/workspaces/{address}", headers={"Cookie": ""})
    removed = await upload(b"", **token, action="remove")
    by_api = [
        await dashboard.call("PUT", api, json={"image": base64.b64encode(PNG).decode()}),
        await dashboard.call("DELETE", api),
        await dashboard.call("PUT", api, json={"image": "no base64!"}),
        await dashboard.call("PUT", api, json={"image": base64.b64encode(SVG).decode()}),
        await dashboard.call("PUT", api, json={"image": base64.b64encode(PNG + b"0" * 50_000).decode()}),
    ]

    assert [answer.status_code for answer in rejected] == [400] * 4
    assert "Choose a PNG, JPEG or WebP image" in rejected[0].text
    assert all("Choose an image of at most 48 KB" in each.text for each in rejected[1:3])
    assert (forged.status_code, 'src="/workspaces/' in before, saved.status_code) == (403, False, 303)
    assert (logo.content, logo.headers["content-type"]) == (PNG, "image/png")
    assert logo.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert logo.headers["x-content-type-options"] == "nosniff"
    assert stranger.status_code == 303
    assert removed.status_code == 303
    assert [each.status_code for each in by_api] == [200, 200, 400, 400, 413]
    assert [each.json()["error"]["fields"][0]["field"] for each in by_api[2:4]] == ["image", "image"]
    assert (len(by_api[0].json()["logo_version"]), by_api[1].json()["logo_version"]) == (16, None)
    assert 'src="/workspaces/' not in (await olga.get(place)).text


async def test_the_api_changes_the_preferences_that_are_sent(dashboard: Dashboard, olga: httpx.AsyncClient):
    first = await dashboard.get("/api/auth/preferences")
    named = await dashboard.patch("/api/auth/preferences", name="Olga O.", theme="dark")
    changed = await dashboard.patch("/api/auth/preferences", time_format="12", name=None)
    same = await dashboard.patch("/api/auth/preferences")
    others = await dashboard.get("/api/auth/preferences", MAX)
    bad = await dashboard.patch("/api/auth/preferences", name="x" * 161, theme="pink")

    usual = {"name": None, "theme": "system", "time_format": "24"}
    assert (first.json(), others.json()) == (usual, usual)
    assert named.json() == {"name": "Olga O.", "theme": "dark", "time_format": "24"}
    assert changed.json() == same.json() == {"name": None, "theme": "dark", "time_format": "12"}
    assert [each["field"] for each in bad.json()["error"]["fields"]] == ["name", "theme"]
    assert 'data-theme="dark"' in (await olga.get("/account")).text


async def test_the_api_changes_a_workspace_for_owners_alone(dashboard: Dashboard):
    place = f"/api/workspaces/{dashboard.acme.workspace_id}"

    renamed = await dashboard.patch(place, name="Acme & Co")
    moved = await dashboard.patch(place, time_zone="Asia/Tokyo")
    seen = await dashboard.get(place, MAX)
    rejected = await dashboard.patch(place, MAX, name="Max's")
    unknown = await dashboard.patch(place, time_zone="Mars/Base")
    log = (await dashboard.get("./audit-log")).json()["data"]

    assert renamed.json() == {"name": "Acme & Co", "time_zone": "UTC", "logo_version": None}
    assert moved.json() == seen.json() == renamed.json() | {"time_zone": "Asia/Tokyo"}
    assert (rejected.status_code, rejected.json()["error"]["code"]) == (403, "owner_required")
    assert (unknown.status_code, unknown.json()["error"]["fields"][0]["field"]) == (400, "time_zone")
    assert [each["field"] for each in log if each["action"] == "workspace.change"] == ["time_zone", "name"]
