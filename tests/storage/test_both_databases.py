"""Every read that pages and APIs use answers the same on PostgreSQL, which is stricter, as on SQLite."""

import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, get_args, get_type_hints

from sqlalchemy import Connection

import background
import storage
from storage import Storage, access, diagnosis, lists, management, reports
from storage.access import accounts, device_logins, invitations, sessions
from storage.access.workspaces import Role
from storage.diagnosis.facts import Subject
from storage.lists import find as engine
from storage.lists.commissions import COMMISSIONS
from storage.lists.declaration import List, ListQuery, ListScope, Order
from storage.lists.find import find
from storage.lists.programs import read_program
from storage.management import agent_caps, program_settings
from storage.reports import performance
from storage.reports.exported_events import ExportedProgram
from storage.reports.followed_links import FollowedLinks
from storage.reports.performance import ReportScope
from storage.rules import contact, keys
from storage.rules.draft import Draft, DraftChange
from storage.rules.errors import CustomerNotFound, ServiceError
from storage.rules.fraud.flag import FlagState
from storage.rules.key_format import LeadKeys
from storage.rules.periods.period import DateRangeQuery, Month, Window
from storage.rules.reports import breakdown_query
from storage.rules.reports.breakdown import Dimension
from storage.rules.scope import READING
from storage.tables import commissions, customers, flags, payouts, plans
from storage.tracking import currencies, terms_in_force
from tests import planned, world
from tests import stripe_events as stripe
from tests.storage.access.test_assistants import signed_in, tokens
from tests.storage.management.paying import draft, pay_by, send
from tests.storage.management.test_by_hand import adjust
from tests.storage.payments.paying import connect, take
from tests.world import BY, NOW, World, stored

LISTS: list[List[Any]] = [
    each
    for module in pkgutil.iter_modules(lists.__path__)
    for each in vars(importlib.import_module(f"{lists.__name__}.{module.name}")).values()
    if isinstance(each, List)
]
CLICKS = [keys.click_id(1, NOW) for _ in range(3)]
WINDOW = Window(NOW.date() - timedelta(days=29), NOW.date())
MONTH, QUERY = DateRangeQuery("30d"), breakdown_query.query("utm_source")
READS = ("list", "get", "find", "count", "by", "next", "of_partners", "is_on", "exist", "owns_all")


async def filled(store: Storage) -> World:
    """Record a little of everything."""
    acme = await world.acme(store, lead_commission_cents=150, platform_fee_bps=1_000)
    await connect(acme)
    await store.write(currencies.load, [(NOW.date(), "USD", "1.25")])
    letter = json.dumps({"utm_source": "letter", "device": "mobile"})
    for click_id, code in zip(CLICKS, ("anna", "anna", "ben"), strict=True):
        await acme.visitor(code, click_id=click_id, referrer_host="news.example", dimensions=letter)
    await acme.lead(CLICKS[0], "user-1", contact=contact.protect("jane@example.com"))
    await acme.lead(CLICKS[2], "user-2", is_trusted=False)
    await acme.sale("inv-1", details='{"product_id": "pro"}')
    await acme.sale("inv-2", 700, currency="EUR")
    await acme.refund("inv-1", 2_500)
    await acme.reject(CustomerNotFound(), request_id="rejected", transaction_id="inv-9", customer_key="USER-1")
    await take(acme, stripe.invoice(metadata={"svc_customer_key": "user-9"}))
    await acme.flag()
    (earned, *_) = (await acme.listed(COMMISSIONS)).data
    await acme.decide("rejected", earned.id)
    await pay_by(acme, acme.ben)
    await adjust(acme, 2_000, partner_id=acme.ben)
    await send(acme, await draft(acme))
    await planned.plan(acme)
    await acme.issue(*READING)
    await store.write(invitations.invite, acme.workspace_id, email="eva@acme.example", role=Role.MEMBER, by=BY)
    await store.write(accounts.create_reset_link, acme.owner_id, by=BY)
    await store.write(device_logins.ask, client="svc", at=NOW)
    await tokens(acme, await signed_in(acme, acme.owner_id))
    await store.write(program_settings.open_sandbox, acme.program_id, by=BY)
    await background.save_callers(store)
    return acme


def reads() -> Iterator[Callable[..., Any]]:
    """Give every public read of the five folders."""
    for package in (lists, reports, diagnosis, management, access):
        for each in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"{package.__name__}.{each.name}")
            for name, function in inspect.getmembers(module, inspect.isfunction):
                is_read = package in {lists, reports, diagnosis} or name.startswith(READS)
                # agent_caps counts what it allows, and a row is locked for a write
                is_read = is_read and module is not agent_caps and not name.startswith("lock_")
                is_ours = function.__module__ == module.__name__ != engine.__name__ and not name.startswith("_")
                takes_connection = next(iter(inspect.signature(function).parameters), "") == "connection"
                if is_ours and is_read and takes_connection and get_type_hints(function)["return"] is not type(None):
                    yield function


async def known(acme: World) -> dict[Any, Any]:
    """Return a value for each parameter of the reads, by its name or by its type."""
    tables = {"commission_id": commissions, "customer_id": customers, "flag_id": flags}
    tables |= {"payout_id": payouts, "plan_id": plans}
    found = {name: (await stored(acme, table.c.id))[0][0] for name, table in tables.items()}
    both = [acme.anna, acme.ben]
    program = ExportedProgram(acme.program_id, "USD", dict.fromkeys(both, ("a", "A")))
    visitor, key_hash = await signed_in(acme, acme.owner_id), acme.principal.key_hash
    names = {"transaction_id": "inv-1", "customer_key": "user-1", "click_id": CLICKS[0], "email": "owner@acme.example"}
    texts = {"name": "Anna", "typed": "user-1", "kind": "sale", "base_url": "https://svc.example"}
    ids = {"program_id": acme.program_id, "live_id": acme.program_id, "workspace_id": acme.workspace_id, "view_id": 1}
    several = {"program_ids": [acme.program_id], "ids": both, "partner_ids": both, "flag_ids": [found["flag_id"]]}
    times = {"at": NOW, "since": NOW, "until": NOW, "earned_until": NOW.date(), "month": Month.of(NOW)}
    secrets = {"key_hash": key_hash, "token_hash": "", "token": "", "client_id": "", "user_code": ""}
    numbers = {"rows": 5, "limit": 5, "number": 1, "minimum_cents": 5, "millis": 3_600_000}
    rest = numbers | {"is_filtered": True, "dimensions": list(Dimension), "filters": [], "program": program, "keys": []}
    other: dict[str, Any] = {"after": None, "rejected": ["USER-1", "user-1"], "outcome": "organic"}
    other |= {"visitor": visitor, "user_id": acme.owner_id, "partner_id": acme.anna}
    theirs = sessions.of_user(acme.owner_id)
    scope = ListScope(acme.program_id, NOW, WINDOW, [acme.workspace_id])
    report = await acme.store.read(performance.read_performance, acme.program_id, MONTH, at=NOW)
    days = ReportScope(acme.program_id, WINDOW, NOW)
    terms = (await acme.store.read(read_program, acme.program_id)).settings
    program_terms = await acme.store.read(terms_in_force.find, acme.program_id, terms_in_force.PROGRAM)
    longer = Draft(terms, terms, {}).after(DraftChange({"attribution_window_days": 90}), lambda _: program_terms)
    links = await acme.store.read(FollowedLinks, acme.program_id, longer)
    other |= {"links": links, "find_terms": terms_in_force.of_partner}
    spans = (MONTH, WINDOW, WINDOW.span, QUERY)
    typed = (longer, report, *spans, FlagState.OPEN, theirs, Subject("inv-1"), scope, ListQuery())
    by_type = {type(each): each for each in (*typed, Dimension.DEVICE, days)}
    names["who"] = names["email"]
    return {**names, **texts, **ids, **several, **found, **times, **secrets, **rest, **other, **by_type}


def queries(wanted: List[Any]) -> Iterator[ListQuery]:
    """Give a list's queries: plain, searched, by each filter that has a value, and in each order with totals."""
    values: dict[type, Any] = {str: "inv-1", int: 1, bool: True, datetime: NOW}
    yield from (ListQuery(), ListQuery(search="anna"), ListQuery(span=WINDOW.span))
    for each in wanted.filters:
        words = [*each.kind] if issubclass(each.kind, StrEnum) else [values[each.kind]]
        yield ListQuery(filters={each.name: words[0]})
    for order in (None, *wanted.sorts):
        yield ListQuery(order=Order(order), has_totals=True)


def calls(read: Callable[..., Any], values: dict[Any, Any]) -> Iterator[dict[str, Any]]:
    """Give the arguments of several calls: what is required alone, with each option that has a value, and with all."""
    hints, required, options = get_type_hints(read), {}, {}
    taken = (each for each in inspect.signature(read).parameters.items() if each[1].kind != each[1].VAR_POSITIONAL)
    for name, parameter in list(taken)[1:]:
        named = (name,) if name in values else (hints[name], *get_args(hints[name]))
        kinds = [each for each in named if each in values]
        if parameter.default is parameter.empty:
            is_filter = hasattr(hints[name], "_fields") and not kinds
            required[name] = hints[name]() if is_filter else values[kinds[0]]
        elif kinds:
            options[name] = values[kinds[0]]
    yield required
    yield from ({**required, name: value} for name, value in options.items())
    yield required | options


def plain(value: Any) -> Any:
    """Return a result without what differs by chance: ids, the ends of secrets, what is sealed."""
    if isinstance(value, dict):
        return sorted((repr(plain(key)), plain(each)) for key, each in value.items())
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, set):
        return sorted(map(repr, value))
    if (is_dataclass(value) and not isinstance(value, type)) or isinstance(value, LeadKeys):
        return plain(vars(value))
    return re.sub(r"\b\d{12,}\b|\b[0-9a-f]{12,}\b|••••.{4}|\bgAAAA[\w=-]+", "#", repr(value))


def whole(connection: Connection, /, read: Callable[..., Any], **arguments: Any) -> Any:
    """Return what a read answers, with every item of what it yields."""
    found = read(connection, **arguments)
    return list(found) if isinstance(found, Iterator) else found


async def answers(url: str) -> dict[str, list[Any]]:
    """Return what each read answers, by its name."""
    found: dict[str, list[Any]] = {}
    async with storage.opened(url) as store:
        acme = await filled(store)
        values = await known(acme)
        for wanted in LISTS:
            pages = [await store.read(find, wanted, values[ListScope], query) for query in queries(wanted)]
            found[wanted.name] = plain(pages)
        for read in reads():
            results = found.setdefault(f"{read.__module__}.{read.__name__}", [])
            for arguments in calls(read, values):
                try:
                    results.append(plain(await store.read(whole, read, **arguments)))
                except ServiceError as error:
                    results.append(error.code)
    return found


async def test_every_read_answers_on_postgresql_what_it_answers_on_sqlite(sqlite_url: str, postgres_url: str):
    on_sqlite, on_postgresql = await answers(sqlite_url), await answers(postgres_url)

    assert on_sqlite.keys() == on_postgresql.keys()
    assert [name for name in on_sqlite if on_sqlite[name] != on_postgresql[name]] == []
    assert len(on_sqlite) > 80
