"""POST /api/v1/track/lead in test mode."""

import pytest

from storage.reading import events
from storage.tables import commissions, customers, leads, test_events
from tests.tracking_api.conftest import Api
from tests.tracking_api.test_lead import visitor

ALL = (customers, leads, commissions)


async def test_the_program_of_a_test_lead_is_the_keys(api: Api):
    answer = await api.lead(additional_data={"test_mode": True, "event_name": "signup"})

    stored = (await api.rows(test_events))[0]
    assert answer.json()["data"] == {"eventId": stored.id, "programId": api.acme.program_id, "test_mode": True}
    assert (stored.is_test, stored.with_key) == (True, True)


async def test_a_test_lead_without_a_key_belongs_to_the_program_that_it_or_its_click_names(api: Api):
    named = {"test_mode": True, "program_id": api.acme.program_id}

    programs = [
        (await api.lead(key=None, additional_data=named)).json()["data"]["programId"],
        (await api.lead(key=None, click_id=await visitor(api), additional_data={"test_mode": True})).json()["data"][
            "programId"
        ],
        (await api.lead(key=None, additional_data={"test_mode": True})).json()["data"]["programId"],
    ]

    assert programs == [api.acme.program_id, api.acme.program_id, 0]


async def test_the_details_of_a_test_lead_are_stored_and_shown(api: Api):
    await api.lead(
        click_id="click-1",
        customer_key="user-1",
        email="jane@example.com",
        additional_data={"test_mode": True, "event_name": "signup"},
    )

    stored = (await api.rows(test_events))[0]
    read = (await api.acme.store.read(events.list_events, api.acme.program_id)).data[0]
    about = (stored.event_name, stored.customer_key, stored.click_id, stored.email_mask)
    assert about == ("signup", "user-1", "click-1", "j***@example.com")
    assert (read.event_name, read.customer_key, read.click_id, read.email_masked) == about
    assert read.is_test is True


@pytest.mark.parametrize("key", ["acme", None])
async def test_a_test_lead_for_an_unknown_program_is_rejected(api: Api, key: str | None):
    answer = await api.lead(key=key, additional_data={"test_mode": True, "program_id": 987_654})

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "program_not_found")
    assert await api.count(test_events) == 0


async def test_a_test_lead_with_a_key_for_another_program_is_rejected(api: Api):
    globex = await api.beside()

    answer = await api.lead(additional_data={"test_mode": True, "program_id": globex.acme.program_id})

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "customer_wrong_program")


async def test_only_a_test_lead_with_the_key_verifies_the_integration(api: Api):
    named = {"test_mode": True, "program_id": api.acme.program_id}

    async def verified() -> bool:
        return {step["step"]: step["done"] for step in (await api.status())["checklist"]}["test_lead"]

    await api.lead(key=None, additional_data=named)
    without_key = await verified()
    await api.lead(additional_data=named)

    assert (without_key, await verified()) == (False, True)


async def test_a_test_lead_with_a_bad_key_is_401(api: Api):
    answer = await api.lead(key="aff_wrong", additional_data={"test_mode": True})

    assert answer.status_code == 401


async def test_production_attribution_is_not_touched_by_a_test_lead(api: Api):
    await api.lead(click_id=await visitor(api), customer_key="user-1", additional_data={"test_mode": True})

    assert await api.count(*ALL) == 0
