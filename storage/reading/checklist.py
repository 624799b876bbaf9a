"""The integration checklist: which steps are verified, since when, and how to verify the next one."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, select

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
    proofs = {
        "program_key": _shown_key(program_id),
        "first_partner": select(partners.c.created_at)
        .where(partners.c.program_id == program_id)
        .order_by(partners.c.id),
    }
    proved = {step: _first(connection, proof) for step, proof in proofs.items()}
    first = [
        ChecklistStep(step, at is not None, at, None if at else FIRST_ACTIONS[step]) for step, at in proved.items()
    ]
    return first + list_steps(connection, program_id, base_url=base_url)


def has_shown_key(connection: Connection, program_id: int) -> bool:
    """Return whether the value of the program's key was ever shown: a program is created with a hidden one."""
    return _first(connection, _shown_key(program_id)) is not None


def list_steps(connection: Connection, program_id: int, *, base_url: str) -> list[ChecklistStep]:
    """Return the program's checklist, in order. Only test events sent with the program key verify a test step.

    `base_url` is the service's URL, for the code to copy.
    """
    clicked = _clicked(program_id)
    settled = (leads.c.program_id == program_id, leads.c.settlement == Settlement.SETTLED)
    proofs = {
        "test_click": _tested(program_id, "click"),
        "test_lead": _tested(program_id, "lead"),
        "test_sale": _tested(program_id, "sale"),
        "live_click": clicked.where(clicks.c.filtered.is_(None)),
        "live_lead": select(leads.c.at).where(*settled).order_by(leads.c.id),
        "live_sale": select(sales.c.at).where(sales.c.program_id == program_id).order_by(sales.c.id),
    }
    browser = _tested(program_id, "click", with_key=False)
    seen = [at for proof in (clicked, browser) if (at := _first(connection, proof))]
    proved = {"tracker_installed": min(seen, default=None)}
    proved |= {step: _first(connection, proof) for step, proof in proofs.items()}
    actions = {step: text.format(base_url=base_url, program_id=program_id) for step, text in NEXT_ACTIONS.items()}
    return [ChecklistStep(step, at is not None, at, None if at else actions[step]) for step, at in proved.items()]


def _shown_key(program_id: int) -> Select[Any]:
    hidden = select(retired_program_keys.c.key_hash).where(retired_program_keys.c.program_id == program_id)
    return select(program_keys.c.created_at).where(program_keys.c.program_id == program_id, hidden.exists())


def _first(connection: Connection, proof: Select[Any]) -> datetime | None:
    return connection.execute(proof.limit(1)).scalar()


def _clicked(program_id: int) -> Select[Any]:
    return select(clicks.c.at).where(clicks.c.program_id == program_id).order_by(clicks.c.click_id)


def _tested(program_id: int, kind: str, *, with_key: bool = True) -> Select[Any]:
    event = test_events.c
    mine = (event.program_id == program_id, event.kind == kind, event.with_key.is_(with_key))
    return select(event.at).where(*mine).order_by(event.id)
