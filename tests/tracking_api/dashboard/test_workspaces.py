"""What a workspace has beside programs: assistants, caps of agent keys, name, time zone and logo; and preferences."""

import base64
from typing import Any

import httpx

from storage.access import assistant_tokens, assistants, sessions
from storage.rules import keys
from tests.storage.access.test_assistants import ASKED
from tests.tracking_api.dashboard.conftest import MAX, OLGA, Dashboard
from tests.tracking_api.dashboard.reading import csrf, follow, form_of, send
from tests.world import NOW

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


DEFAULTS = {
    "rate_step": 20,
    "rate_change_in_30_days": 20,
    "highest_rate": 50,
    "highest_flat_rate_cents": 10_000,
    "highest_lead_commission_cents": 10_000,
    "frozen_settings": [],
    "two_keys_to_pay": False,
}


WRONG: list[tuple[str, Any]] = [
    ("rate_step", 101),
    ("highest_rate", 1.234),
    ("highest_flat_rate_cents", -1),
    ("frozen_settings", ["api_token"]),
    ("frozen_settings", ["status"]),
    ("two_keys_to_pay", "yes"),
]


async def connect(dashboard: Dashboard, who: str) -> None:
    """Connect an assistant of a member."""
    store, token_hash = dashboard.acme.store, keys.digest(dashboard.tokens[who])
    visitor = await store.read(sessions.identify, token_hash, at=NOW)
    programs = [dashboard.acme.program_id]
    code = await store.write(assistants.connect, ASKED, visitor=visitor, program_ids=programs, at=NOW)
    assert await store.write(assistant_tokens.exchange, code, client_id=ASKED.client_id, at=NOW) is not None


async def test_a_member_sees_and_disconnects_their_own_assistants_and_an_owner_all(dashboard: Dashboard):
    await connect(dashboard, OLGA)
    await connect(dashboard, MAX)

    of_max, of_olga = [(await dashboard.get("/api/assistants", who)).json()["data"] for who in (MAX, OLGA)]

    assert [each["email"] for each in of_max] == [MAX]
    assert [each["email"] for each in of_olga] == [MAX, OLGA]
    assert of_max[0] == {
        "id": of_max[0]["id"],
        "name": "Helper",
        "host": "assistant.example",
        "workspace_id": dashboard.acme.workspace_id,
        "email": MAX,
        "scopes": list(ASKED.scopes),
        "program_ids": [dashboard.acme.program_id],
        "connected_at": "2026-05-20T12:00:00Z",
        "last_used_at": "2026-05-20T12:00:00Z",
    }
    newest, oldest = [each["id"] for each in of_olga]
    ended = [
        (await dashboard.call("DELETE", f"/api/assistants/{assistant_id}", who)).status_code
        for assistant_id, who in ((oldest, MAX), (newest, OLGA), (newest, OLGA), (oldest, OLGA), ("x", OLGA))
    ]
    assert ended == [404, 200, 404, 200, 404]
    assert (await dashboard.get("/api/assistants")).json() == {"data": []}


async def test_an_owner_changes_the_caps_that_they_send_and_the_log_names_it(dashboard: Dashboard):
    sent = {"highest_rate": 30.5, "frozen_settings": ["domain", "lead_auth_policy"], "two_keys_to_pay": True}
    for name, value in WRONG:
        rejected = await dashboard.patch("./agent-caps", **{name: value})
        assert [field["field"] for field in rejected.json()["error"]["fields"]] == [name], value
    assert (await dashboard.get("./agent-caps", MAX)).json() == DEFAULTS

    changed = await dashboard.patch("./agent-caps", **sent)

    assert changed.json() == (await dashboard.get("./agent-caps")).json() == DEFAULTS | sent
    entries = (await dashboard.get("./audit-log")).json()["data"]
    assert {(entry["action"], entry["field"], str(entry["before"]), str(entry["after"])) for entry in entries} == {
        ("agent_caps.change", "highest_rate", "50", "30.5"),
        ("agent_caps.change", "frozen_settings", "[]", "['domain', 'lead_auth_policy']"),
        ("agent_caps.change", "two_keys_to_pay", "False", "True"),
    }
    assert (await dashboard.patch("./agent-caps", frozen_settings=[])).json()["frozen_settings"] == []


async def test_the_page_saves_what_an_owner_types_and_shows_an_error_beside_its_field(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    path = f"{dashboard.pages}/settings/agent-caps"
    typed = {"highest_lead_commission": "2.50", "frozen_settings": ["domain"], "two_keys_to_pay": "true"}

    rejected = await send(olga, path, "Save caps", **typed, highest_rate="200", highest_flat_rate="-1")
    action, kept = form_of(rejected.text, "Save caps")
    saved = await olga.post(action, data=kept | {"highest_rate": "30", "highest_flat_rate": "100.00"})

    assert rejected.status_code == 400
    assert [f'href="#{name}"' in rejected.text for name in ("highest_rate", "highest_flat_rate")] == [True, True]
    assert "The caps are saved" in await follow(olga, saved)
    chosen = {"highest_lead_commission_cents": 250, "frozen_settings": ["domain"], "two_keys_to_pay": True}
    assert (await dashboard.get("./agent-caps")).json() == DEFAULTS | chosen | {"highest_rate": 30}


async def test_a_person_chooses_a_name_a_theme_and_a_time_format(dashboard: Dashboard, olga: httpx.AsyncClient):
    token = await csrf(olga)
    chosen = {"name": "Olga O.", "theme": "dark", "time_format": "12", "action": "preferences", "csrf": token}

    saved = await olga.post("/account", data=chosen)
    page = (await olga.get("/account")).text
    async with dashboard.browser(MAX) as other:
        members = (await other.get(f"{dashboard.pages}/settings/members")).text
        plain = (await other.get("/account")).text
    bad = await olga.post("/account", data={**chosen, "name": "x" * 200, "theme": "pink"})

    assert (saved.status_code, bad.status_code) == (303, 400)
    assert ('data-theme="dark"' in page, ">May 20, 2026, 12:00 PM<" in page) == (True, True)
    assert ("data-theme" in plain, ">May 20, 2026, 12:00<" in plain) == (False, True)
    assert "Olga O." in members


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


async def test_times_are_in_the_time_zone_of_the_workspace(dashboard: Dashboard, olga: httpx.AsyncClient):
    place = f"{dashboard.pages}/settings/workspace"
    token = await csrf(olga)

    unknown = await olga.post(place, data={"name": "Acme", "time_zone": "Mars/Base", "csrf": token})
    saved = await olga.post(place, data={"name": "Acme & Co", "time_zone": "America/New_York", "csrf": token})
    account = (await olga.get("/account")).text

    assert (unknown.status_code, "Choose a time zone of the list" in unknown.text) == (400, True)
    assert saved.status_code == 303
    assert ">May 20, 2026, 08:00<" in account
    assert "Since (New York time)" in account


async def test_the_api_changes_what_is_sent_of_a_workspace_and_the_log_says_so(dashboard: Dashboard):
    place = f"/api/workspaces/{dashboard.acme.workspace_id}"

    renamed = await dashboard.patch(place, name="Acme & Co")
    moved = await dashboard.patch(place, time_zone="Asia/Tokyo")
    seen = await dashboard.get(place, MAX)
    unknown = await dashboard.patch(place, time_zone="Mars/Base")
    log = (await dashboard.get("./audit-log")).json()["data"]

    assert renamed.json() == {"name": "Acme & Co", "time_zone": "UTC", "logo_version": None}
    assert moved.json() == seen.json() == renamed.json() | {"time_zone": "Asia/Tokyo"}
    assert (unknown.status_code, unknown.json()["error"]["fields"][0]["field"]) == (400, "time_zone")
    assert [each["field"] for each in log if each["action"] == "workspace.change"] == ["time_zone", "name"]


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
