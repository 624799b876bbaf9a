"""A backtest of windows and of the attribution model credits whom a program with these settings credits."""

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage import Storage
from storage.management import partners, special_terms
from storage.rules.attribution import AttributionModel
from storage.rules.errors import ServiceError
from storage.tracking import leads, sales
from storage.tracking.leads import Lead
from storage.tracking.sale_decisions import Sale
from tests import world
from tests.storage.reports.test_backtest import by_name, ledger, run
from tests.world import NOW, World

START = NOW - timedelta(days=300)
CODES = ("anna", "ben", "cleo")
DAYS = st.integers(1, 40)
RULES = st.fixed_dictionaries(
    {
        "attribution_model": st.sampled_from(AttributionModel),
        "cookie_window_days": st.sampled_from([10, 30, 60]),
        "attribution_window_days": st.sampled_from([10, 30, 60]),
    }
)


class History(NamedTuple):
    """What a visitor does, each after so many days: they follow links, sign up or not, and buy."""

    links: list[tuple[int, str]]
    lead: int | None
    sales: list[tuple[int, bool]]  # whether it names the click, too


HISTORIES = st.builds(
    History,
    links=st.lists(st.tuples(DAYS, st.sampled_from(CODES)), min_size=1, max_size=3, unique_by=lambda link: link[1]),
    lead=st.none() | DAYS,
    sales=st.lists(st.tuples(DAYS, st.booleans()), max_size=3),
)


@dataclass
class Browser:
    """A visitor's browser, which stores the click for as long as the program says."""

    acme: World
    click_id: str | None = None
    until: datetime = START

    def read(self, at: datetime) -> str | None:
        return self.click_id if at <= self.until else None

    async def follow(self, code: str, at: datetime) -> None:
        carried = self.read(at)
        visitor = json.dumps({"existing_click_id": carried})  # as the endpoint writes it
        clicked = await self.acme.click(code, existing_click_id=carried, visitor=visitor, at=at)
        self.click_id, self.until = clicked.click_id, at + timedelta(days=clicked.cookie_window_days)


async def live(acme: World, key: str, history: History) -> None:
    """Let a visitor of a program do what a history says; what the program rejects is logged."""
    at, browser = START, Browser(acme)
    for days, code in history.links:
        at += timedelta(days=days)
        await browser.follow(code, at)
    if history.lead is not None:
        at += timedelta(days=history.lead)
        lead = Lead(browser.read(at), key, at)
        with suppress(ServiceError):
            await acme.handle(leads.record, lead, click_id=lead.click_id, customer_key=key, call="lead", at=at)
    for number, (days, names_click) in enumerate(history.sales):
        at += timedelta(days=days)
        named: dict[str, Any] = {"click_id": browser.read(at) if names_click else None, "customer_key": key}
        sale = Sale(f"{key}-{number}", 10_000 + number, at, **named)
        about: Any = {name: getattr(sale, name) for name in ("transaction_id", "amount_cents", "currency")}
        with suppress(ServiceError):
            await acme.handle(sales.record, sale, **named, **about, call="sale", at=at)


async def program(acme: World) -> World:
    """Return a program with a third partner, where Ben has terms of his own."""
    await acme.do(partners.enrol, name="Cleo", code="cleo")
    await acme.do(special_terms.set_for_partner, acme.ben, {"commission_rate": 50}, at=START)
    return acme


@pytest.mark.both_databases
@settings(max_examples=60)
@given(first=RULES, draft=RULES, histories=st.lists(HISTORIES, min_size=1, max_size=3))
async def test_windows_and_the_model_move_credit_as_a_program_with_them_does(
    store: Storage, first: dict[str, Any], draft: dict[str, Any], histories: list[History]
):
    draft["cookie_window_days"] = min(first["cookie_window_days"], draft["cookie_window_days"])  # the rest is unknown
    earn = {"lead_commission_cents": 300, "recurring_months": 1}
    acme = await program(await world.acme(store, **first, **earn))
    other = await program(await acme.beside(name="Drafted", **draft, **earn))
    for each in (acme, other):
        for number, history in enumerate(histories):
            await live(each, f"user-{number}", history)

    now, drafted, recorded = await run(acme), await run(acme, **draft), await run(other)

    assert {each.partner_id: each.before_cents for each in now.partners if each.before_cents} == await ledger(acme)
    assert (now.difference_cents, now.kept, drafted.kept) == (0, 0, 0)
    assert drafted.before == now.before
    assert drafted.after == recorded.before
    assert by_name(drafted, "after_cents") == by_name(recorded, "before_cents")
    assert drafted.sales + drafted.gained_sales - drafted.lost_sales == recorded.sales
