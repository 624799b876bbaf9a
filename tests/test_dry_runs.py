"""A dry run gets the response that the call then gets, of every action there is, and leaves every table as it was."""

import asyncio
from collections import defaultdict
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

import agent_api.app
from configuration import Configuration
from presentation.operations import described
from storage import Storage
from storage.checks import books
from storage.lists.audit_log import AUDIT_LOG
from storage.lists.commissions import COMMISSIONS
from storage.lists.customers import CUSTOMERS
from storage.lists.declaration import List
from storage.lists.flags import FLAGS
from storage.lists.plans import PLANS
from storage.management import agent_caps
from storage.tables import idempotent_answers, metadata, refused_calls
from tests import planned, world
from tests.security import operations
from tests.storage.management.replaying import lose_sale
from tests.world import HELD_SINCE, SECRET, World, stored

AGENT = "/api/agent/v1"
DRY = {"Svc-Dry-Run": "true"}
WRITES = [
    (method, path) for path, method, _ in described(agent_api.app.ROUTES) if method != "GET" and path.startswith(AGENT)
]
TRACKED = [("POST", f"/api/v1/track/{call}") for call in ("lead", "sale", "refund")]
KNOWN = {  # what the fields of bodies may be, beside rows that exist; any subset of the fields that a body has
    "status": st.sampled_from(["approved", "rejected", "paid", "paused", "active", "no status"]),
    "state": st.sampled_from(["dismissed", "confirmed"]),
    "amount_cents": st.sampled_from([-500, 1, 4_900, 10_000, 60_000_000]),
    "refund_amount_cents": st.sampled_from([1, 4_000, 99_000]),
    "currency": st.sampled_from(["USD", "EUR"]),
    "customer_key": st.sampled_from(["user-1", "user-2", "user-9"]),
    "transaction_id": st.sampled_from(["inv-1", "inv-2", "inv-3"]),
    "past": st.sampled_from(["stay", "move"]),
    "code": st.sampled_from(["anna", "cleo", "dora"]),
    "partner_code": st.sampled_from(["anna", "dora"]),
    "commission_rate": st.sampled_from([5, 21, 25, 90]),
    "hold_days": st.sampled_from([10, 30]),
    "name": st.just("Cleo"),
    "reason": st.just("The shop's form lost the click."),
    "cause": st.sampled_from(["customer_not_found", "invalid_key"]),
    "changes": st.just([{"method": "PATCH", "path": "", "body": {"commission_rate": 21}}]),
}
DRAWN = {"request_id", "dry_run", "click_id", "token"}  # anew for each response, or only in one
TAKEN = st.fixed_dictionaries({name: st.one_of(values, values, st.none()) for name, values in KNOWN.items()})


class Service:
    """Both APIs over one program."""

    def __init__(self, acme: World) -> None:
        self.acme = acme
        self.key = ""
        self.client = operations.both_apis(acme.store, Configuration(rate_limit=False, secret_key=SECRET))

    async def call(self, method: str, path: str, body: Any, **headers: str) -> httpx.Response:
        key = self.key if path.startswith(AGENT) else self.acme.key
        headers = {"Authorization": f"Bearer {key}", **headers}
        return await self.client.request(method, path, json=body, headers=headers)

    async def path_of(self, path: str, number: int) -> str:
        """Return a path with the id of a row that exists, where there is one."""
        lists: list[List[Any]] = [COMMISSIONS, CUSTOMERS, FLAGS, PLANS]
        ids = {f"{each.one}_id": [row.id for row in (await self.acme.listed(each)).data] for each in lists}
        ids |= {"program_id": [self.acme.program_id], "partner_id": [self.acme.anna, self.acme.ben]}
        chosen = {name: rows[number % len(rows)] for name, rows in ids.items() if rows}
        return path.format_map(defaultdict(lambda: 1, chosen))

    async def tables(self) -> dict[str, Any]:
        """Return every row that there is."""
        tables = metadata.sorted_tables
        return await self.acme.store.read(
            lambda reader: {each.name: sorted(map(repr, reader.execute(select(each)))) for each in tables}
        ) | {"committed_batches": None, "agent_keys": None}  # the lanes' own, and when the key was last used


async def serving(store: Storage) -> Service:
    service = Service(await world.acme(store, lead_commission_cents=300))
    issued = await service.acme.issue()
    service.key = issued.secret
    await lose_sale(service.acme, "inv-3")  # until its customer is there
    for number, code in ((1, "anna"), (2, "ben")):
        await service.acme.customer(f"user-{number}", code, at=HELD_SINCE)
        await service.acme.sale(f"inv-{number}", customer_key=f"user-{number}", at=HELD_SINCE)
    await service.acme.flag()
    await planned.plan(service.acme, gift=True, key_id=issued.id)
    await service.acme.do(agent_caps.change, {"apply_own_plans": True})
    return service


def said(response: httpx.Response) -> Any:
    """Return what a response says, without ids, which are drawn anew, and without what marks a dry run."""

    def without_ids(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without_ids(each) for name, each in value.items() if name not in DRAWN}
        if isinstance(value, list):
            return list(map(without_ids, value))
        return "an id" if type(value) is int and value > 10**14 else value

    return response.status_code, without_ids(response.json())


@settings(max_examples=40)
@given(steps=st.lists(st.tuples(st.sampled_from(WRITES + TRACKED), st.integers(0, 2), TAKEN), min_size=1, max_size=5))
async def test_the_dry_answer_of_any_action_is_the_live_one_and_every_table_stays_as_it_was(
    store: Storage, steps: list[tuple[tuple[str, str], int, dict[str, Any]]]
):
    service = await serving(store)
    for (method, template), number, taken in steps:
        path = await service.path_of(template, number)
        body = {"partner_id": (service.acme.anna, service.acme.ben)[number % 2]}
        body |= {name: value for name, value in taken.items() if value is not None}
        before = await service.tables()

        dry = await service.call(method, path, body, **DRY)
        after = await service.tables()
        live = await service.call(method, path, body)

        assert after == before
        assert said(dry) == said(live)
        assert ("dry_run" in dry.json()) == dry.is_success
    assert await store.read(books.run) == []


async def test_a_dry_run_counts_against_no_cap_but_is_checked_against_it(store: Storage):
    service = await serving(store)
    path = f"{AGENT}/programs/{service.acme.program_id}/adjustments"
    body = {"partner_id": service.acme.anna, "amount_cents": 6_000, "reason": "A bonus"}
    await service.acme.do(agent_caps.change, {"amount_in_a_day_cents": 10_000})

    dry = [(await service.call("POST", path, body, **DRY)).status_code for _ in range(3)]
    live = await service.call("POST", path, body)
    over = await service.call("POST", path, body, **DRY)

    assert (dry, live.status_code) == ([201] * 3, 201)
    assert (over.status_code, over.json()["error"]["cap"]) == (403, "amount_in_a_day_cents")
    assert "agent_rejections" not in {name for name, rows in (await service.tables()).items() if rows}
    actions = [each.action for each in (await service.acme.listed(AUDIT_LOG)).data]
    assert actions.count("partner.adjust") == 1


async def test_a_dry_run_takes_no_idempotency_key_and_a_repeat_is_answered_as_one(store: Storage):
    service = await serving(store)
    path, repeat = f"{AGENT}/programs/{service.acme.program_id}/partners", {"Idempotency-Key": "once"}
    body = {"name": "Cleo", "code": "cleo"}

    dry = await service.call("POST", path, body, **DRY, **repeat)
    assert (dry.status_code, dry.json()["dry_run"], dry.json()["code"]) == (201, True, "cleo")
    assert await stored(service.acme, idempotent_answers.c.body) == []
    created = await service.call("POST", path, body, **repeat)
    repeated = await service.call("POST", path, body, **DRY, **repeat)
    other = await service.call("POST", path, body | {"code": "dora"}, **DRY, **repeat)

    assert repeated.headers["idempotency-replayed"] == "true"
    assert repeated.json() == {"dry_run": True, **created.json()}
    assert other.json()["error"]["code"] == "idempotency_key_reused"


async def test_dry_and_live_calls_at_once_do_not_disturb_each_other(store: Storage):
    service = await serving(store)

    def sell(number: int) -> Any:
        body = {"customer_key": "user-1", "amount_cents": 4_900, "transaction_id": f"new-{number // 3}"}
        return service.call("POST", "/api/v1/track/sale", body, **(DRY if number % 3 else {}))

    responses = await asyncio.gather(*map(sell, range(30)))

    assert [response.status_code for response in responses[::3]] == [200] * 10
    assert {response.status_code for response in responses} <= {200, 409}
    assert len((await service.acme.listed(COMMISSIONS)).data) == 10 + 4
    assert await store.read(books.run) == []


@pytest.mark.parametrize("value", ["", "1", "yes", "true, true"])
async def test_a_malformed_header_is_no_live_call(store: Storage, value: str):
    service = await serving(store)
    before = await service.tables()
    paths = ("/api/v1/track/sale", f"{AGENT}/programs/{service.acme.program_id}/partners")
    bodies = ({"customer_key": "user-1", "amount_cents": 1, "transaction_id": "new"}, {"name": "Cleo", "code": "cleo"})

    responses = [
        await service.call("POST", *each, **{"Svc-Dry-Run": value}) for each in zip(paths, bodies, strict=True)
    ]

    for response in responses:
        assert response.status_code == 400
        assert response.json()["error"]["fields"] == [{"field": "Svc-Dry-Run", "message": "true or false"}]
    assert await service.tables() == before


async def test_without_a_key_nothing_is_tried_and_false_is_a_live_call(store: Storage):
    service = await serving(store)
    body = {"customer_key": "user-1", "amount_cents": 1, "transaction_id": "new"}
    click_id = await service.acme.visitor()

    anonymous = await service.client.post("/api/v1/track/lead", json={"click_id": click_id}, headers=DRY)
    rejected = await service.call("POST", "/api/v1/track/sale", body | {"customer_key": "unknown"}, **DRY)
    live = await service.call("POST", "/api/v1/track/sale", body, **{"Svc-Dry-Run": "false"})

    assert (anonymous.status_code, anonymous.json()["error"]["code"]) == (401, "invalid_key")
    assert (rejected.status_code, await stored(service.acme, refused_calls.c.code)) == (400, [("customer_not_found",)])
    assert (live.status_code, "dry_run" in live.json()) == (200, False)
