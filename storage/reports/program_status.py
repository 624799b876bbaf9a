"""A program's health, which `GET /api/v1/cli/status` shows to holders of the program key."""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, Table, func, select

from storage.access import program_keys
from storage.access.program_keys import ProgramKey
from storage.engine import ids
from storage.payments import accounts, received_events
from storage.payments.received_events import LatestPayments
from storage.reports import checklist
from storage.reports.checklist import ChecklistStep
from storage.rules import keys
from storage.rules.attribution import PartnerStatus
from storage.rules.commission import CommissionStatus
from storage.rules.settlement import CustomerStatus, Settlement
from storage.tables import clicks, commissions, customers, leads, partners, programs, refused_calls, sales
from storage.tables import program_keys as held


class ProgramHealth(NamedTuple):
    """The program, its key, what happened in the last 24 hours, and the integration checklist.

    `sandbox_of` is the live program that a sandbox belongs to, None for a live program.
    """

    key: ProgramKey
    name: str
    domain: str
    sandbox_of: int | None
    lead_auth_policy: str
    api_token_masked: str
    clicks_24h: int
    leads_24h: int
    sales_24h: int
    active_partners: int
    pending_commissions: int
    provisional_leads: int
    refused_calls_24h: int
    payment_account_connected: bool
    latest_payments: LatestPayments
    checklist: list[ChecklistStep]


def get_status(connection: Connection, key_hash: str, *, at: datetime, base_url: str) -> ProgramHealth:
    """Return the health of the key's program. Raises InvalidKey, ApiKeyRotationRequired."""
    key = program_keys.authenticate(connection, key_hash, at=at)
    row = programs.c
    columns = (row.name, row.domain, row.sandbox_of, row.lead_auth_policy, held.c.prefix, held.c.last4)
    mine = select(*columns).join(held, held.c.program_id == programs.c.id).where(programs.c.id == key.program_id)
    program = connection.execute(mine).one()
    since = at - timedelta(hours=24)

    def since_then(table: Table) -> tuple[object, object]:
        return table.c.id >= ids.first(since), table.c.at >= since

    def count(table: Table, *conditions: object) -> int:
        counted = select(func.count()).select_from(table).where(table.c.program_id == key.program_id, *conditions)  # type: ignore[arg-type]
        return connection.execute(counted).scalar_one()

    provisional = customers.c.settlement == Settlement.PROVISIONAL
    recent_click = clicks.c.click_id >= keys.first_click_id(since)
    return ProgramHealth(
        key=key,
        name=program.name,
        domain=program.domain,
        sandbox_of=program.sandbox_of,
        lead_auth_policy=program.lead_auth_policy,
        api_token_masked=keys.mask(program.prefix, program.last4),
        clicks_24h=count(clicks, recent_click, clicks.c.filtered.is_(None)),
        leads_24h=count(leads, *since_then(leads), leads.c.settlement == Settlement.SETTLED),
        sales_24h=count(sales, *since_then(sales)),
        active_partners=count(partners, partners.c.status == PartnerStatus.ACTIVE),
        pending_commissions=count(commissions, commissions.c.status == CommissionStatus.PENDING),
        provisional_leads=count(customers, provisional, customers.c.status == CustomerStatus.PROVISIONAL),
        refused_calls_24h=count(refused_calls, *since_then(refused_calls)),
        payment_account_connected=accounts.find_account_id(connection, key.program_id) is not None,
        latest_payments=received_events.count_latest(connection, key.program_id),
        checklist=checklist.list_steps(connection, key.program_id, base_url=base_url),
    )
