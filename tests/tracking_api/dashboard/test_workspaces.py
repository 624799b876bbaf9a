"""What a workspace has beside programs: caps of agent keys, name, time zone and logo; and preferences."""

import base64
from typing import Any

import httpx

from tests.tracking_api.dashboard.conftest import CONTRACT, MAX, Dashboard
from tests.tracking_api.dashboard.reading import csrf, press

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
DEFAULTS: dict[str, Any] = CONTRACT["agent_caps"]


async def test_an_owner_changes_the_caps_that_they_send_and_the_log_names_it(dashboard: Dashboard):
    frozen = ["domain", "lead_auth_policy"]
    sent: dict[str, Any] = {"highest_rate": 30.5, "frozen_settings": frozen, "two_keys_to_pay": True}
    for name, value in CONTRACT["wrong_agent_caps"]:
        rejected = await dashboard.patch("./agent-caps", **{name: value})
        assert [field["field"] for field in rejected.json()["error"]["fields"]] == [name], value
    assert (await dashboard.get("./agent-caps", MAX)).json() == DEFAULTS

    changed = await dashboard.patch("./agent-caps", **sent)

    assert changed.json() == (await dashboard.get("./agent-caps")).json() == DEFAULTS | sent
    entries = (await dashboard.get("./audit-log")).json()["data"]
    assert {(entry["action"], entry["field"], str(entry["before"]), str(entry["after"])) for entry in entries} == {
        ("agent_caps.change", "highest_rate", "50", "30.5"),
        ("agent_caps.change", "frozen_settings", str(DEFAULTS["frozen_settings"]), "['domain', 'lead_auth_policy']"),
        ("agent_caps.change", "two_keys_to_pay", "False", "True"),
    }
    assert (await dashboard.patch("./agent-caps", frozen_settings=[])).json()["frozen_settings"] == []


async def test_a_person_chooses_a_name_a_theme_and_a_time_format(dashboard: Dashboard, olga: httpx.AsyncClient):
    path = "/api/auth/preferences"
    form = {"action": "preferences", "csrf": await csrf(olga)}
    chosen = {"name": "Olga O.", "theme": "dark", "time_format": "24"}

    named, same = await dashboard.patch(path, name="Olga O.", theme="dark"), await dashboard.patch(path)
    saved = await olga.post("/account", data=form | chosen | {"time_format": "12"})
    page = (await olga.get("/account")).text
    async with dashboard.browser(MAX) as other:
        members = (await other.get(f"{dashboard.pages}/settings/members")).text
        plain = (await other.get("/account")).text
    wrong = await olga.post("/account", data=form | chosen | {"name": "x" * 161})
    bad = await dashboard.patch(path, name="x" * 161, theme="pink")

    assert (await dashboard.get(path, MAX)).json() == {"name": None, "theme": "system", "time_format": "24"}
    assert named.json() == same.json() == chosen
    assert (await dashboard.patch(path, name=None)).json() == {"name": None, "theme": "dark", "time_format": "12"}
    assert (saved.status_code, wrong.status_code) == (303, 400)
    assert [each["field"] for each in bad.json()["error"]["fields"]] == ["name", "theme"]
    assert ('data-theme="dark"' in page, ">May 20, 2026, 12:00 PM<" in page) == (True, True)
    assert ("data-theme" in plain, ">May 20, 2026, 12:00<" in plain, "Olga O." in members) == (False, True, True)


async def test_a_workspace_is_changed_by_call_or_on_its_page_and_times_are_in_its_time_zone(dashboard: Dashboard):
    olga = dashboard.olga
    place, path = f"{dashboard.pages}/settings/workspace", f"/api/workspaces/{dashboard.acme.workspace_id}"
    form = {"name": "Acme & Co", "csrf": await csrf(olga)}

    renamed, moved = await dashboard.patch(path, name="Acme & Co"), await dashboard.patch(path, time_zone="Asia/Tokyo")
    seen, unknown = await dashboard.get(path, MAX), await dashboard.patch(path, time_zone="Mars/Base")
    log = (await dashboard.get("./audit-log")).json()["data"]
    wrong, saved = [await olga.post(place, data=form | {"time_zone": each}) for each in ("Mars", "America/New_York")]

    assert renamed.json() == {"name": "Acme & Co", "time_zone": "UTC", "logo_version": None}
    assert moved.json() == seen.json() == renamed.json() | {"time_zone": "Asia/Tokyo"}
    assert (unknown.status_code, unknown.json()["error"]["fields"][0]["field"]) == (400, "time_zone")
    assert [each["field"] for each in log if each["action"] == "workspace.change"] == ["time_zone", "name"]
    assert (wrong.status_code, saved.status_code) == (400, 303)
    assert ">May 20, 2026, 08:00<" in (await olga.get("/account")).text


async def test_a_logo_is_a_small_image_that_only_members_see(dashboard: Dashboard, olga: httpx.AsyncClient):
    place = f"{dashboard.pages}/settings/workspace"
    api = f"/api/workspaces/{dashboard.acme.workspace_id}/logo"

    async def upload(content: bytes, action: str = "logo", **fields: str) -> httpx.Response:
        return await press(olga, place, files={"logo": ("logo.png", content)}, action=action, **fields)

    rejected = [await upload(each) for each in (SVG, PNG + b"0" * 50_000, PNG + b"0" * 90_000, b"")]
    forged = await upload(PNG, csrf="guessed")
    before = (await olga.get(place)).text
    saved = await upload(PNG)
    address = (await olga.get(place)).text.partition('src="/workspaces/')[2].partition('"')[0]
    logo = await olga.get(f"/workspaces/{address}")
    stranger = await olga.get(f"/workspaces/{address}", headers={"Cookie": ""})
    removed = await upload(b"", "remove-logo")
    images = [base64.b64encode(each).decode() for each in (PNG, SVG, PNG + b"0" * 50_000)]
    put = [await dashboard.call("PUT", api, json={"image": each}) for each in (*images, "no base64!")]
    deleted = await dashboard.call("DELETE", api)

    assert [answer.status_code for answer in rejected] == [400] * 4
    assert (forged.status_code, 'src="/workspaces/' in before, saved.status_code) == (403, False, 303)
    assert (logo.content, logo.headers["content-type"]) == (PNG, "image/png")
    assert logo.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert logo.headers["x-content-type-options"] == "nosniff"
    assert (stranger.status_code, removed.status_code) == (303, 303)
    assert [each.status_code for each in put] == [200, 400, 413, 400]
    assert [put[n].json()["error"]["fields"][0]["field"] for n in (1, 3)] == ["image", "image"]
    assert (len(put[0].json()["logo_version"]), deleted.json()["logo_version"]) == (16, None)
    assert 'src="/workspaces/' not in (await olga.get(place)).text
