"""Commissions: decided one by one or in bulk, not before their hold is over unless an owner says why."""

from datetime import timedelta

import httpx

from tests.tracking_api.dashboard.conftest import MAX, OLGA, Dashboard
from tests.tracking_api.dashboard.reading import follow, form_of, send, words
from tests.world import HELD_SINCE


async def test_commissions_are_decided_in_bulk_each_with_its_own_result(dashboard: Dashboard):
    await dashboard.acme.customer(at=HELD_SINCE)
    ids = [(await dashboard.acme.sale(f"inv-{n}", occurred_at=HELD_SINCE)).commission_id for n in range(2)]
    await dashboard.patch(f"./commissions/{ids[0]}", status="rejected")

    results = (await dashboard.patch("./commissions", ids=[*ids, 7], status="approved")).json()["data"]

    assert [(each["id"], each.get("status"), each.get("error", {}).get("code")) for each in results] == [
        (7, None, "not_found"),
        (ids[0], None, "validation_error"),
        (ids[1], "approved", None),
    ]
    assert [row["id"] for row in (await dashboard.get("./commissions", status="approved")).json()["data"]] == ids[1:]


async def test_approving_before_the_hold_is_over_needs_a_reason(dashboard: Dashboard):
    await dashboard.acme.customer(at=HELD_SINCE)
    sold = await dashboard.acme.sale(occurred_at=HELD_SINCE + timedelta(seconds=1))
    path = f"./commissions/{sold.commission_id}"

    alone = await dashboard.patch(path, status="approved")
    blank = await dashboard.patch(path, status="approved", override_hold_reason="  ")
    of_member = await dashboard.patch(path, MAX, status="approved", override_hold_reason="Please")
    in_bulk = await dashboard.patch(
        "./commissions", ids=[sold.commission_id], status="approved", override_hold_reason="All of them"
    )

    assert (alone.status_code, alone.json()["error"]["code"]) == (409, "commission_on_hold")
    assert "2026-05-20 12:00 UTC" in alone.json()["error"]["message"]
    assert blank.json()["error"]["fields"][0]["field"] == "override_hold_reason"
    assert of_member.json()["error"]["code"] == "owner_required"
    assert [each["error"]["code"] for each in in_bulk.json()["data"]] == ["commission_on_hold"]
    assert [row["status"] for row in (await dashboard.get("./commissions")).json()["data"]] == ["pending"]
    assert (await dashboard.get("./audit-log")).json()["data"] == []
    other = (await dashboard.acme.sale("inv-2")).commission_id
    overridden = await dashboard.patch(f"./commissions/{other}", status="approved", override_hold_reason="It is due")
    assert (overridden.status_code, overridden.json()["status"]) == (200, "approved")
    rejected = (await dashboard.patch(path, status="rejected")).json()
    assert [rejected[name] for name in ("status", "amount_cents", "net_cents")] == ["rejected", 2_000, 0]


async def test_a_commission_is_approved_at_the_last_instant_of_its_hold_then_paid_then_final(dashboard: Dashboard):
    await dashboard.acme.customer(at=HELD_SINCE)
    sold = await dashboard.acme.sale(occurred_at=HELD_SINCE)

    path = f"./commissions/{sold.commission_id}"
    approved = await dashboard.patch(path, status="approved", override_hold_reason="x")
    paid = await dashboard.patch(path, status="paid")
    again = await dashboard.patch(path, status="rejected")

    assert [approved.json()[name] for name in ("status", "paid_at")] == ["approved", None]
    assert [paid.json()[name] for name in ("status", "paid_at")] == ["paid", "2026-05-20T12:00:00Z"]
    assert again.json()["error"]["fields"][0]["field"] == "status"
    entries = (await dashboard.get("./audit-log")).json()["data"]  # nothing was overridden
    assert [(each["field"], each["before"], each["after"]) for each in entries] == [
        ("status", "approved", "paid"),
        ("status", "pending", "approved"),
    ]


async def test_an_owner_approves_one_on_hold_on_its_page_with_a_reason_that_the_log_has(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    await dashboard.acme.customer()
    sold = await dashboard.acme.sale()
    path = f"{dashboard.pages}/commissions/{sold.commission_id}"

    blank = await send(olga, path, "Approve now", override_hold_reason=" ")
    approved = await send(olga, path, "Approve now", override_hold_reason="Anna's invoice is due")

    assert (blank.status_code, "Override hold reason" in words(blank.text)) == (400, True)
    page = await follow(olga, approved)
    assert "Commission $20.00 Approved" in page
    assert "Approved: 1." in page
    assert "Approve now" not in page
    entries = (await dashboard.get("./audit-log")).json()["data"]
    assert {(entry["actor"]["name"], entry["field"], entry["after"]) for entry in entries} == {
        (OLGA, "status", "approved"),
        (OLGA, "override_hold_reason", "Anna's invoice is due"),
    }


async def test_the_list_opens_with_what_is_ready_to_approve(dashboard: Dashboard, olga: httpx.AsyncClient):
    acme, path = dashboard.acme, f"{dashboard.pages}/commissions"
    await acme.customer()
    await acme.sale("inv-on-hold")
    nothing = words((await olga.get(path)).text)
    await acme.customer("user-2", at=HELD_SINCE)
    await acme.sale("inv-ready", customer_key="user-2", at=HELD_SINCE)

    ready, pending = [words((await olga.get(path + query)).text) for query in ("", "?status=pending")]

    assert "No commission is ready to approve" in nothing
    assert ("inv-ready" in ready, "inv-on-hold" in ready) == (True, False)
    assert ("inv-ready" in pending, "inv-on-hold" in pending) == (True, True)


async def test_selected_commissions_that_cannot_change_are_counted_and_do_not_stop_others(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    await dashboard.acme.customer(at=HELD_SINCE)
    ids = [(await dashboard.acme.sale(f"inv-{n}", at=HELD_SINCE)).commission_id for n in range(2)]
    path = f"{dashboard.pages}/commissions?status=all"
    assert "Approved: 1." in await follow(olga, await send(olga, path, "Approve", id=ids[:1]))

    asked = await send(olga, path, "Mark as paid…", id=ids)
    action, form = form_of(asked.text, "Mark as paid")
    paid = await olga.post(action, data=form)

    assert "Mark as paid: 1 commission, $20.00?" in words(asked.text)
    assert "Marked as paid: 1. Not changed: 1" in await follow(olga, paid)
    listed = (await dashboard.get("./commissions")).json()["data"]
    assert {each["id"]: each["status"] for each in listed} == {ids[0]: "paid", ids[1]: "pending"}
