"""Commissions: decided one by one or in bulk, not before their hold is over unless an owner says why."""

from datetime import timedelta

from tests.tracking_api.dashboard.conftest import MAX, OLGA, Dashboard
from tests.world import HELD_SINCE


async def test_a_commission_changes_from_pending_to_approved_to_paid(dashboard: Dashboard):
    await dashboard.acme.customer(at=HELD_SINCE)
    sold = await dashboard.acme.sale(occurred_at=HELD_SINCE)

    approved = await dashboard.patch(f"./commissions/{sold.commission_id}", status="approved")
    paid = await dashboard.patch(f"./commissions/{sold.commission_id}", status="paid")
    again = await dashboard.patch(f"./commissions/{sold.commission_id}", status="rejected")

    assert (approved.json()["status"], approved.json()["paid_at"]) == ("approved", None)
    assert (paid.json()["status"], paid.json()["paid_at"]) == ("paid", "2026-05-20T12:00:00Z")
    assert again.json()["error"]["fields"][0]["field"] == "status"
    entries = (await dashboard.get("./audit-log")).json()["data"]
    assert [(entry["before"], entry["after"]) for entry in entries] == [("approved", "paid"), ("pending", "approved")]


async def test_a_rejected_commission_is_worth_nothing_and_leaves_the_report(dashboard: Dashboard):
    await dashboard.acme.customer()
    sold = await dashboard.acme.sale()
    before = (await dashboard.performance()).json()["metrics"]["totalPartnersCommission"]

    rejected = (await dashboard.patch(f"./commissions/{sold.commission_id}", status="rejected")).json()

    assert (rejected["amount_cents"], rejected["net_cents"]) == (2_000, 0)
    assert before == 20
    assert (await dashboard.performance()).json()["metrics"]["totalPartnersCommission"] == 0


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


async def test_the_hold_is_over_at_its_last_instant(dashboard: Dashboard):
    await dashboard.acme.customer(at=HELD_SINCE)
    sold = await dashboard.acme.sale(occurred_at=HELD_SINCE)

    approved = await dashboard.patch(f"./commissions/{sold.commission_id}", status="approved", override_hold_reason="x")

    assert approved.json()["status"] == "approved"
    fields = [entry["field"] for entry in (await dashboard.get("./audit-log")).json()["data"]]
    assert fields == ["status"]  # nothing was overridden


async def test_an_owner_overrides_the_hold_and_the_log_names_the_reason(dashboard: Dashboard):
    await dashboard.acme.customer()
    sold = await dashboard.acme.sale()

    approved = await dashboard.patch(
        f"./commissions/{sold.commission_id}", status="approved", override_hold_reason="Anna's invoice is due"
    )

    entries = (await dashboard.get("./audit-log")).json()["data"]
    assert (approved.status_code, approved.json()["status"]) == (200, "approved")
    assert {(entry["actor"]["name"], entry["field"], entry["after"]) for entry in entries} == {
        (OLGA, "status", "approved"),
        (OLGA, "override_hold_reason", "Anna's invoice is due"),
    }


async def test_a_held_commission_may_be_rejected(dashboard: Dashboard):
    await dashboard.acme.customer()
    sold = await dashboard.acme.sale()

    rejected = await dashboard.patch(f"./commissions/{sold.commission_id}", status="rejected")

    assert rejected.json()["status"] == "rejected"
