"""The caps of agent keys: members read them, owners set them with the API or the page, and the audit log says so."""

from typing import Any

import httpx

from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.tracking_api.dashboard.reading import follow, form_of, send, words

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


async def test_an_owner_changes_what_they_send_and_the_log_names_it(dashboard: Dashboard):
    sent: dict[str, Any] = {
        "highest_rate": 30.5,
        "frozen_settings": ["domain", "lead_auth_policy"],
        "two_keys_to_pay": True,
    }
    assert (await dashboard.get("./agent-caps", MAX)).json() == DEFAULTS

    changed = await dashboard.patch("./agent-caps", **sent)

    assert changed.json() == (await dashboard.get("./agent-caps")).json() == DEFAULTS | sent
    entries = (await dashboard.get("./audit-log")).json()["data"]
    assert {(entry["action"], entry["field"], str(entry["before"]), str(entry["after"])) for entry in entries} == {
        ("agent_caps.change", "highest_rate", "50", "30.5"),
        ("agent_caps.change", "frozen_settings", "[]", "['domain', 'lead_auth_policy']"),
        ("agent_caps.change", "two_keys_to_pay", "False", "True"),
    }
    await dashboard.patch("./agent-caps", frozen_settings=[])
    assert (await dashboard.get("./agent-caps")).json()["frozen_settings"] == []


async def test_a_wrong_cap_is_named_and_nothing_changes(dashboard: Dashboard):
    for name, value in WRONG:
        rejected = await dashboard.patch("./agent-caps", **{name: value})
        assert [field["field"] for field in rejected.json()["error"]["fields"]] == [name], value

    assert (await dashboard.get("./agent-caps")).json() == DEFAULTS


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
    _, shown = form_of((await olga.get(path)).text, "Save caps")
    assert (shown["highest_lead_commission"], shown["highest_rate"]) == (["2.50"], ["30"])
    assert "Highest rate" in words(rejected.text)
