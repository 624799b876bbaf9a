"""The integration checklist: which steps are verified, since when, and how to verify the next one."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Select, bindparam, select

from storage.rules.settlement import Settlement
from storage.tables import clicks, leads, partners, program_keys, retired_program_keys, sales, test_events


class ChecklistStep(NamedTuple):
    """One step; `verified_at` is when it was first verified, `next_action` how to verify an open one."""

    step: str
    done: bool
    verified_at: datetime | None
    next_action: str | None


NEXT_ACTIONS = {
    "tracker_installed": (
        'Put <script async src="{base_url}/js/svc-tracker.js" data-svc-program-id="{program_id}"></script> '
        "on every page."
    ),
    "test_click": "Send POST /api/v1/track/click with additional_data.test_mode true and the program key.",
    "test_lead": "Send POST /api/v1/track/lead with additional_data.test_mode true and the program key.",
    "test_sale": "Send POST /api/v1/track/sale with additional_data.test_mode true and the program key.",
    "live_click": (
        "Open the landing page through a partner's link (?aff=<partner code>). Clicks of headless browsers and other "
        "bots do not count, except in the program's sandbox: run browser tests there."
    ),
    "live_lead": "Send POST /api/v1/track/lead with the program key when a referred visitor signs up.",
    "live_sale": "Send POST /api/v1/track/sale with the program key when a referred customer pays.",
}


FIRST_ACTIONS = {
    "program_key": "Create the program key: your server sends it with leads, sales and refunds.",
    "first_partner": "Add a partner: people who follow their link are theirs.",
}


def list_all_steps(connection: Connection, program_id: int, *, base_url: str) -> list[ChecklistStep]:
    """Return what a new program needs first, a key that was shown and a partner, and then its checklist."""
    proved = _proved(connection, _SET_UP, program_id)
    first = [_step(step, proved[step], action) for step, action in FIRST_ACTIONS.items()]
    return first + list_steps(connection, program_id, base_url=base_url)


def has_shown_key(connection: Connection, program_id: int) -> bool:
    """Return whether the value of the program's key was ever shown: a program is created with a hidden one."""
    return _proved(connection, _SET_UP, program_id)["program_key"] is not None


def list_steps(connection: Connection, program_id: int, *, base_url: str) -> list[ChecklistStep]:
    """Return the program's checklist, in order. Only test events sent with the program key verify a test step.

    `base_url` is the service's URL, for the code to copy.
    """
    proved = _proved(connection, _INTEGRATION, program_id)
    clicked = [at for name in ("any_click", "browser_click") if (at := proved[name])]
    proved["tracker_installed"] = min(clicked, default=None)
    actions = {step: text.format(base_url=base_url, program_id=program_id) for step, text in NEXT_ACTIONS.items()}
    return [_step(step, proved[step], action) for step, action in actions.items()]


def _step(step: str, at: datetime | None, action: str) -> ChecklistStep:
    return ChecklistStep(step, at is not None, at, None if at else action)


def _proved(connection: Connection, proofs: Select[Any], program_id: int) -> dict[str, datetime | None]:
    return connection.execute(proofs, {"program_id": program_id}).one()._asdict()


def _first(column: Any, order: Any, *conditions: Any) -> Any:
    """Return the column of the first row of the program that meets the conditions, as a part of one statement."""
    mine = column.table.c.program_id == bindparam("program_id", type_=BigInteger())
    return select(column).where(mine, *conditions).order_by(order).limit(1).scalar_subquery()


def _tested(kind: str, *, with_key: bool = True) -> Any:
    event = test_events.c
    return _first(event.at, event.id, event.kind == kind, event.with_key.is_(with_key))


_key, _click = program_keys.c, clicks.c
_hidden = select(retired_program_keys.c.key_hash).where(retired_program_keys.c.program_id == _key.program_id)
_SET_UP = select(
    _first(_key.created_at, _key.created_at, _hidden.exists()).label("program_key"),
    _first(partners.c.created_at, partners.c.id).label("first_partner"),
)
_INTEGRATION = select(
    _first(_click.at, _click.click_id).label("any_click"),
    _tested("click", with_key=False).label("browser_click"),
    _tested("click").label("test_click"),
    _tested("lead").label("test_lead"),
    _tested("sale").label("test_sale"),
    _first(_click.at, _click.click_id, _click.filtered.is_(None)).label("live_click"),
    _first(leads.c.at, leads.c.id, leads.c.settlement == Settlement.SETTLED).label("live_lead"),
    _first(sales.c.at, sales.c.id).label("live_sale"),
)
