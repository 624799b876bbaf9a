"""Partners, customers, commissions, and the logs of what happened."""

from typing import Any

import pytest

from tests.tracking_api.dashboard.conftest import MAX, Dashboard

pytestmark = pytest.mark.anyio


async def test_an_owner_enrols_and_changes_a_partner(dashboard: Dashboard):
    made = await dashboard.post("./partners", name="Cleo", code="cleo", email="cleo@blog.example")
    changed = await dashboard.patch(f"./partners/{made.json()['id']}", status="paused", code="cleo-2")

    log = (await dashboard.get("./audit-log")).json()["data"]
    assert made.status_code == 201
    assert changed.json() == {**made.json(), "status": "paused", "code": "cleo-2"}
    assert [(entry["action"], entry["field"]) for entry in log] == [
        ("partner.change", "status"),
        ("partner.change", "code"),
        ("partner.enrol", None),
    ]
    assert (await dashboard.get("./partners", MAX, status="paused")).json()["data"] == [changed.json()]


async def test_a_wrong_field_of_a_partner_is_named(dashboard: Dashboard):
    wrong: list[tuple[dict[str, Any], set[str]]] = [
        ({}, {"name", "code"}),
        ({"name": "Anna again", "code": "anna"}, {"code"}),  # another partner's
        ({"name": "C", "code": "a b"}, {"code"}),
        ({"name": "C", "code": "c" * 65}, {"code"}),
        ({"name": "C", "code": "c", "email": "nobody"}, {"email"}),
        ({"name": "C", "code": "c", "status": "lazy"}, {"status"}),
    ]
    for body, fields in wrong:
        answer = await dashboard.call("POST", "./partners", json=body)
        assert {each["field"] for each in answer.json()["error"]["fields"]} == fields, body

    changed = await dashboard.patch(f"./partners/{dashboard.acme.ben}", code="anna")
    assert (changed.status_code, changed.json()["error"]["fields"][0]["field"]) == (400, "code")
    assert len((await dashboard.get("./partners")).json()["data"]) == 2


async def test_rows_of_other_programs_are_not_found(dashboard: Dashboard):
    for odd in ("1", "banana", "9" * 30):
        rejected = [
            await dashboard.patch(f"./partners/{odd}", name="X"),
            await dashboard.patch(f"./commissions/{odd}", status="approved"),
            await dashboard.get(f"./customers/{odd}"),
        ]

        assert {(each.status_code, each.json()["error"]["code"]) for each in rejected} == {(404, "not_found")}, odd


async def test_pages_hold_every_row_once_newest_first_whatever_arrives_between_them(dashboard: Dashboard):
    acme = dashboard.acme
    for n in range(3):
        await acme.customer(f"user-{n}")
        await acme.sale(f"inv-{n}", customer_key=f"user-{n}")
    test_lead = {"click_id": "x", "additional_data": {"test_mode": True}}
    await dashboard.call("POST", "/api/v1/track/lead", acme.key, json=test_lead)
    firsts = {name: (await dashboard.get(f"./{name}", limit=2)).json() for name in ("customers", "commissions")}
    await acme.customer("user-3")
    await acme.sale("inv-3", customer_key="user-3")

    rows = {
        name: [*first["data"], *(await dashboard.get(f"./{name}", limit=2, cursor=first["next_cursor"])).json()["data"]]
        for name, first in firsts.items()
    }
    events = (await dashboard.get("./events", limit=200)).json()["data"]

    assert [row["customer_key"] for row in rows["customers"]] == ["user-2", "user-1", "user-0"]
    assert [row["transaction_id"] for row in rows["commissions"]] == ["inv-2", "inv-1", "inv-0"]
    assert sorted(event["kind"] for event in events) == ["click"] * 4 + ["lead"] * 4 + ["sale"] * 4 + ["test"]
    sales = (await dashboard.get("./events", kind="sale")).json()["data"]
    assert [sale["transaction_id"] for sale in sales] == ["inv-3", "inv-2", "inv-1", "inv-0"]


async def test_a_customer_page_shows_the_whole_timeline_in_order(dashboard: Dashboard):
    acme = dashboard.acme
    await acme.customer()
    await acme.sale()
    await acme.refund("inv-1", 5_000, refund_id="r-1")

    (customer,) = (await dashboard.get("./customers", MAX)).json()["data"]
    shown = (await dashboard.get(f"./customers/{customer['id']}", MAX)).json()
    assert {name: shown[name] for name in customer} == customer
    assert customer["status"] == "conversion"
    assert customer["partner"]["code"] == "anna"
    assert customer["signup_date"] == customer["first_purchase_date"] == "2026-05-20"
    assert [step["kind"] for step in shown["trail"]] == ["click", "lead", "sale", "refund", "commission"]
    assert (shown["trail"][-1]["amount_cents"], shown["trail"][-1]["net_cents"]) == (2_000, 1_000)


async def test_customers_are_found_by_status_partner_and_key(dashboard: Dashboard):
    acme = dashboard.acme
    await acme.customer("user-1", "anna")
    await acme.customer("user-2", "ben")
    await acme.sale()

    async def keys(**query: Any) -> list[str]:
        return [row["customer_key"] for row in (await dashboard.get("./customers", **query)).json()["data"]]

    assert await keys() == ["user-2", "user-1"]
    assert await keys(status="lead") == ["user-2"]
    assert await keys(partner_id=acme.anna) == ["user-1"]
    assert await keys(customer_key="user-2") == ["user-2"]
    assert (await dashboard.get("./customers", status="rich")).json()["error"]["fields"][0]["field"] == "status"


async def test_a_limit_outside_1_to_200_and_an_invalid_cursor_are_named(dashboard: Dashboard):
    wrong = {
        "limit": ["0", "201", "-1", "ten", "", "1.0", "9" * 400],
        "cursor": ["WzFd", "bnVsbA", "W10", "%00", "é", "WzEsICJjbGljayIsICJcdTAwMDAiXQ", "W1s" * 900],
    }
    for field, values in wrong.items():
        for value in values:
            answer = await dashboard.get("./events", **{field: value})
            assert answer.json()["error"]["fields"][0]["field"] == field, value
