"""The integration checklist: which steps are verified, since when, and how to verify the next one.

A step is done by what it says: rows that were imported or reported later, and the sample page, prove no other step.
"""

import re
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, and_, func, select, type_coerce

from storage.lists.declaration import PROGRAM
from storage.management import imported_events
from storage.rules.settlement import Settlement
from storage.tables import (
    clicks,
    customers,
    leads,
    partners,
    program_keys,
    programs,
    retired_program_keys,
    sales,
    test_events,
)

TESTED = ("click", "lead", "sale")
MOST_CLICKS = 1_000  # the first ones, and the latest ones: the pages of these are looked at
MOST_MILLIS_LATE = 24 * 60 * 60 * 1_000  # a sale that is reported later does not show that live sales arrive
FIRST_ACTIONS, NEXT_ACTIONS = tomllib.loads(
    Path(__file__).with_name("checklist.toml").read_text(encoding="utf-8")
).values()
_PAGE = re.compile(r"https?://(?:[^/?#@]*@)?([^/?#:]+)(:\d+)?([^?#]*)")


class ChecklistStep(NamedTuple):
    """One step; `verified_at` is when it was first verified, `next_action` how to verify an open one."""

    step: str
    done: bool
    verified_at: datetime | None
    next_action: str | None


def list_steps(connection: Connection, program_id: int, *, base_url: str) -> list[ChecklistStep]:
    """Return what a new program needs first, a key that was shown, a partner and a first click, and its checklist.

    Only test events sent with the program key verify a test step. `base_url` is for the code to copy.
    """
    proved: dict[str, datetime | None] = connection.execute(_PROVED, {"program_id": program_id}).one()._asdict()
    proved |= {"program_key": find_shown_key(connection, program_id), **_pages(connection, program_id)}
    actions = {step: text.format(base_url=base_url, program_id=program_id) for step, text in NEXT_ACTIONS.items()}
    return [
        ChecklistStep(step, done=(at := proved[step]) is not None, verified_at=at, next_action=None if at else action)
        for step, action in (FIRST_ACTIONS | actions).items()
    ]


def find_shown_key(connection: Connection, program_id: int) -> datetime | None:
    """Return when the program's key was made, if its value was shown: a program is created with a hidden one.

    It is no part of _PROVED, since a cluster has keys and events on different nodes.
    """
    at: datetime | None = connection.execute(select(_SHOWN_KEY), {"program_id": program_id}).scalar()
    return at


def _pages(connection: Connection, program_id: int) -> dict[str, datetime | None]:
    """Return when a page of the program's domains, or below one, first sent a click, and when the sample page did."""
    domains = select(programs.c.domain, programs.c.further_domains).where(programs.c.id == program_id)
    named = " ".join(filter(None, connection.execute(domains).one())).lower().split()
    own = tuple(f".{each.removeprefix('www.')}" for each in named)  # with a port where its pages need one
    seen = select(_click.at, _click.page_url).where(_click.program_id == program_id).limit(MOST_CLICKS)
    first = connection.execute(seen.order_by(_click.click_id)).all()
    latest = connection.execute(seen.order_by(_click.click_id.desc())).all() if len(first) == MOST_CLICKS else []
    proved: dict[str, datetime | None] = {"tracker_installed": None, "sample_page": None}
    for at, page_url in [*first, *reversed(latest)]:
        page = _PAGE.match((page_url or "").lower())
        if page is not None and page[3] == f"/programs/{program_id}/sample-page":
            proved["sample_page"] = proved["sample_page"] or at
        elif page is not None and (f".{page[1]}".endswith(own) or f".{page[1]}{page[2]}".endswith(own)):
            proved["tracker_installed"] = proved["tracker_installed"] or at
    return proved


def _first(column: Any, order: Any, *conditions: Any) -> Any:
    """Return the column of the first row of the program that meets the conditions, as a part of one statement."""
    mine = (column.table.c.program_id == PROGRAM, *conditions)
    return select(column).where(*mine).order_by(order).limit(1).scalar_subquery()


_key, _click, _sale, _test = program_keys.c, clicks.c, sales.c, test_events.c
_hidden = select(retired_program_keys.c.key_hash).where(retired_program_keys.c.program_id == _key.program_id)
_SHOWN_KEY = _first(_key.created_at, _key.created_at, _hidden.exists())
_late = type_coerce(_sale.at, BigInteger) - type_coerce(_sale.occurred_at, BigInteger)
_imported_sale = _sale.provenance == imported_events.REPORTED_BY
_who = (customers.c.program_id == leads.c.program_id, customers.c.id == leads.c.customer_id)
_came = and_(_click.program_id == customers.c.program_id, _click.click_id == customers.c.click_id)
_imported = select(_click.click_id).join(customers, _came).where(*_who, _click.filtered == imported_events.FILTERED)
_live_lead = (leads.c.settlement == Settlement.SETTLED, ~_imported.correlate(leads).exists())
_on_sample_page = func.coalesce(_click.page_url, "").like("%/programs/%/sample-page%")
_PROVED = select(
    _first(partners.c.created_at, partners.c.id).label("first_partner"),
    *(_first(_test.at, _test.id, _test.kind == kind, _test.with_key).label(f"test_{kind}") for kind in TESTED),
    _first(_click.at, _click.click_id, _click.filtered.is_(None), ~_on_sample_page).label("live_click"),
    _first(leads.c.at, leads.c.id, *_live_lead).label("live_lead"),
    _first(_sale.at, _sale.id, ~_imported_sale, _late < MOST_MILLIS_LATE).label("live_sale"),
)
