"""The caps of agent keys: members read them, owners set them, and the audit log says so."""

from typing import Any

import pytest

from tests.tracking_api.dashboard.conftest import MAX, Dashboard

DEFAULTS = {
    "rate_step": 20,
    "rate_change_in_30_days": 20,
    "highest_rate": 50,
    "highest_flat_rate_cents": 10_000,
    "highest_lead_commission_cents": 10_000,
    "frozen_settings": [],
    "two_keys_to_pay": False,
}


async def test_a_program_starts_with_the_defaults(dashboard: Dashboard):
    assert (await dashboard.get("./agent-caps", MAX)).json() == DEFAULTS


async def test_an_owner_changes_what_they_send_and_the_log_names_it(dashboard: Dashboard):
    sent: dict[str, Any] = {
        "highest_rate": 30.5,
        "frozen_settings": ["domain", "lead_auth_policy"],
        "two_keys_to_pay": True,
    }

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


async def test_a_member_changes_none(dashboard: Dashboard):
    rejected = await dashboard.patch("./agent-caps", MAX, highest_rate=100)

    assert (rejected.status_code, rejected.json()["error"]["code"]) == (403, "owner_required")
    assert (await dashboard.get("./agent-caps")).json() == DEFAULTS


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rate_step", 101),
        ("highest_rate", 1.234),
        ("highest_flat_rate_cents", -1),
        ("frozen_settings", ["api_token"]),
        ("frozen_settings", ["status"]),
        ("two_keys_to_pay", "yes"),
    ],
)
async def test_a_wrong_cap_is_named(dashboard: Dashboard, name: str, value: Any):
    rejected = await dashboard.patch("./agent-caps", **{name: value})

    assert [field["field"] for field in rejected.json()["error"]["fields"]] == [name]
    assert (await dashboard.get("./agent-caps")).json() == DEFAULTS
