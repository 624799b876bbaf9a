"""The sample workspace of `svc demo`: 90 days of two programs, recorded by the real operations with past times."""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection

from cli.demo.history import DAYS, STEP, History, Shop
from storage.access import agent_keys, workspaces
from storage.access.workspaces import Role
from storage.engine.audit import Actor
from storage.rules.scope import Scope
from storage.rules.settings import ProgramSettings
from storage.rules.settlement import LeadAuthPolicy

OWNER = "olivia@sample.example"
SHOPS = (
    Shop(
        ProgramSettings("Ledgerly", "ledgerly.example", rate=2000, recurring_months=12, platform_fee_bps=500),
        *(70, 0.09, 0.42, 0.93, (1900, 4900, 4900, 9900)),
    ),
    Shop(
        ProgramSettings(
            *("Fernwood Outdoor", "fernwood.example"),
            rate=1000,
            lead_commission_cents=100,
            lead_auth_policy=LeadAuthPolicy.BROWSER_ALLOWED,
        ),
        *(45, 0.07, 0.35, 0.15, (3495, 5900, 8950, 12900, 21900)),
    ),
)


class Sample(NamedTuple):
    """The workspace's data that the demo prints; the keys are shown once."""

    workspace_id: int
    owner_email: str
    programs: list[tuple[int, str, str]]
    agent_key: str


def create(connection: Connection, *, password_hash: str, at: datetime) -> Sample:
    """Create the sample workspace with events up to `at`; about ten thousand clicks, the same in every run."""
    start = (at - timedelta(days=DAYS)).replace(hour=0, minute=0, second=0, microsecond=0)
    owned = workspaces.create(connection, "Sample", owner_email=OWNER, password_hash=password_hash, at=start)
    colleague = "max@sample.example"
    workspaces.add_member(
        connection, owned.workspace_id, email=colleague, role=Role.MEMBER, password_hash=password_hash, at=start
    )
    owner = Actor("user", str(owned.user_id), OWNER)
    histories = [History(connection, owned.workspace_id, owner, shop, start) for shop in SHOPS]
    begin = start
    while begin < at:
        for history in histories:
            history.record(begin, min(begin + STEP, at))
        begin += STEP
    agent_key = agent_keys.issue(connection, owned.workspace_id, name="Demo agent", scopes=list(Scope), at=at)
    programs = [(history.program_id, history.shop.settings.name, history.key) for history in histories]
    return Sample(owned.workspace_id, OWNER, programs, agent_key.secret)
