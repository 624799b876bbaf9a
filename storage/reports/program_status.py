"""A program's health, which `GET /api/v1/cli/status` shows to holders of the program key."""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, select

from storage.access import program_keys
from storage.engine import ids
from storage.engine.statements import read_statement
from storage.lists.rejected_calls import count_organic
from storage.payments import accounts, event_log
from storage.reports import checklist
from storage.rules import keys
from storage.rules.settlement import LeadAuthPolicy
from storage.tables import program_keys as held
from storage.tables import programs

_COUNTS = read_statement("program_counts")


class RecentEvents(NamedTuple):
    """Counts of the last 24 hours."""

    clicks_24h: int
    leads_24h: int
    sales_24h: int


class ProgramHealth(NamedTuple):
    """The program, what happened in the last 24 hours, and the integration checklist.

    `organic_sales_24h` were rejected because no partner sent their customers, as far as the service knows.
    `sandbox_of` is the live program that a sandbox belongs to, None for a live program; `latest_payments` is None
    without a connected payment account.
    """

    program_id: int
    name: str
    domain: str
    lead_auth_policy: LeadAuthPolicy
    api_token_masked: str
    rotate_by: datetime | None
    payment_account_connected: bool
    recent_events: RecentEvents
    active_partners: int
    pending_commissions: int
    provisional_leads: int
    refused_calls_24h: int
    organic_sales_24h: int
    checklist: list[checklist.ChecklistStep]
    sandbox_of: int | None = None
    latest_payments: event_log.LatestPayments | None = None


def get_status(
    connection: Connection, key_hash: str, *, at: datetime, base_url: str
) -> tuple[program_keys.ProgramKey, ProgramHealth]:
    """Return a key and the health of its program. Raises InvalidKey, ApiKeyRotationRequired."""
    key = program_keys.authenticate(connection, key_hash, at=at)
    row = programs.c
    columns = (row.name, row.domain, row.sandbox_of, row.lead_auth_policy, held.c.prefix, held.c.last4)
    mine = select(*columns).join(held, held.c.program_id == programs.c.id).where(programs.c.id == key.program_id)
    program = connection.execute(mine).one()
    since = at - timedelta(hours=24)
    values = {"program_id": key.program_id, "since": since, "since_id": ids.first(since)}
    first_click = {"first_click_id": keys.first_click_id(since)}
    counts = connection.execute(_COUNTS, values | first_click).one()._asdict()
    recent = RecentEvents(*(counts.pop(name) for name in RecentEvents._fields))
    has_account = accounts.find_account(connection, key.program_id) is not None
    return key, ProgramHealth(
        program_id=key.program_id,
        name=program.name,
        domain=program.domain,
        lead_auth_policy=LeadAuthPolicy(program.lead_auth_policy),
        api_token_masked=keys.mask(program.prefix, program.last4),
        rotate_by=key.rotate_by,
        payment_account_connected=has_account,
        recent_events=recent,
        **counts,
        organic_sales_24h=count_organic(connection, key.program_id, since),
        checklist=checklist.list_steps(connection, key.program_id, base_url=base_url)[len(checklist.FIRST_ACTIONS) :],
        sandbox_of=program.sandbox_of,
        latest_payments=event_log.count_latest(connection, key.program_id) if has_account else None,
    )
