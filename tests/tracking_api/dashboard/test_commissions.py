"""Commissions are decided one by one or in bulk, and not while on hold without a reason; what is final asks first."""

from datetime import timedelta
from typing import Any

import httpx

from storage.access import members
from storage.lists.partners import PARTNERS
from storage.lists.programs import read_program
from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.tracking_api.dashboard.reading import Fields, csrf, follow, form_of, send
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
    path, reason = f"./commissions/{sold.commission_id}", {"override_hold_reason": "It is due"}

    alone = await dashboard.patch(path, status="approved")
    blank = await dashboard.patch(path, status="approved", override_hold_reason="  ")
    of_member = await dashboard.patch(path, MAX, status="approved", **reason)
    in_bulk = await dashboard.patch("./commissions", ids=[sold.commission_id], status="approved", **reason)
    unchanged = (await dashboard.get("./audit-log")).json()["data"]
    overridden = await dashboard.patch(path, status="approved", **reason)
    paid = await dashboard.patch(path, status="paid")
    again = await dashboard.patch(path, status="rejected")

    assert (alone.status_code, alone.json()["error"]["code"]) == (409, "commission_on_hold")
    assert "2026-05-20 12:00 UTC" in alone.json()["error"]["message"]
    assert blank.json()["error"]["fields"][0]["field"] == "override_hold_reason"
    assert of_member.json()["error"]["code"] == "owner_required"
    assert [each["error"]["code"] for each in in_bulk.json()["data"]] == ["commission_on_hold"]
    assert unchanged == []
    assert [overridden.json()[name] for name in ("status", "paid_at")] == ["approved", None]
    assert [paid.json()[name] for name in ("status", "paid_at")] == ["paid", "2026-05-20T12:00:00Z"]
    assert again.json()["error"]["fields"][0]["field"] == "status"


async def test_selected_commissions_that_cannot_change_are_counted_and_do_not_stop_others(dashboard: Dashboard):
    olga, path = dashboard.olga, f"{dashboard.pages}/commissions?status=all"
    await dashboard.acme.customer(at=HELD_SINCE)
    held = (await dashboard.acme.sale("inv-1", at=HELD_SINCE + timedelta(days=1))).commission_id
    free = (await dashboard.acme.sale("inv-2", at=HELD_SINCE)).commission_id

    approved = await send(olga, path, "Approve", ids=[held, free])

    assert "Approved: 1. Not changed: 1" in await follow(olga, approved)
    listed = (await dashboard.get("./commissions")).json()["data"]
    assert {each["id"]: each["status"] for each in listed} == {held: "pending", free: "approved"}


async def test_what_can_be_undone_offers_undo(dashboard: Dashboard, olga: httpx.AsyncClient):
    acme, base = dashboard.acme, f"/programs/{dashboard.acme.program_id}"
    user_id = (await acme.store.read(members.get_member, acme.workspace_id, MAX)).user_id
    about_max: Fields = {"user_id": user_id}
    _, settings = form_of((await olga.get(f"{base}/settings")).text, "Save settings")
    done: list[tuple[str, Fields, str]] = [
        (f"{base}/partners/{acme.ben}/status", {"status": "paused"}, "Undo"),
        (f"{base}/settings/members", {"action": "suspend"} | about_max, "Undo"),
        (f"{base}/settings", settings | {"status": "paused"}, "Activate it again"),
    ]

    async def state() -> list[Any]:
        partner = await acme.row(PARTNERS, acme.ben)
        member = await acme.store.read(members.get_member, acme.workspace_id, user_id)
        program = await acme.store.read(read_program, acme.program_id)
        return [partner, member, program.settings]

    before = await state()
    for path, fields, button in done:
        answer = await olga.post(path, data={"csrf": await csrf(olga), **fields})
        assert await state() != before, path
        page = (await olga.get(answer.headers["location"])).text

        undo, hidden = form_of(page, button)
        assert (await olga.post(undo, data=hidden)).status_code == 303

        assert await state() == before, path


async def test_all_that_match_are_approved_at_once_and_pending_again_after_undo(dashboard: Dashboard):
    acme, olga, path = dashboard.acme, dashboard.olga, f"/programs/{dashboard.acme.program_id}/commissions"
    await acme.customer(at=HELD_SINCE)
    await acme.customer("user-2", "ben", at=HELD_SINCE)
    for number in range(52):
        await acme.sale(f"inv-{number}", at=HELD_SINCE)
    await acme.sale("of-ben", customer_key="user-2", at=HELD_SINCE)
    page = (await olga.get(f"{path}?q=anna")).text
    assert "Approve all 52, $1,040.00…" in page

    page = (await olga.post(f"{path}/approve-all?q=anna", data={"csrf": await csrf(olga)})).text
    assert '<h1 id="ask">Approve: 52 commissions, $1,040.00?</h1>' in page
    assert page.index(">Approve</button>") < page.index("<bdi>Anna</bdi>: 52, $1,040.00")
    await acme.sale("ready since", at=HELD_SINCE + timedelta(hours=1))
    dashboard.at += timedelta(hours=2)
    action, fields = form_of(page, "Approve")
    await olga.post(action, data=fields)

    approved: Fields = {"status": "approved", "limit": 200}
    assert len((await dashboard.get("./commissions", **approved)).json()["data"]) == 52
    undo, fields = form_of((await olga.get(path)).text, "Undo")
    await olga.post(undo, data=fields)
    assert (await dashboard.get("./commissions", **approved)).json()["data"] == []
    elsewhere = await olga.post(f"{path}/approve-all?status=paid", data={"csrf": await csrf(olga)})
    assert elsewhere.status_code == 400
