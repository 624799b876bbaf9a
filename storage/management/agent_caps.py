"""The caps of a program's agent keys: what an owner set, or the default; and whether a change stays within them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, insert, or_, select, update

from storage.engine import audit
from storage.engine.audit import Actor
from storage.rules import agent_caps as rules
from storage.rules.agent_caps import CAPS, FREEZABLE, WINDOW, AgentCaps, RateTerms
from storage.rules.errors import OverCap
from storage.rules.settings import ProgramSettings, published, stored_percents
from storage.tables import agent_caps, commission_terms, programs
from storage.tracking import currencies

DEFAULT_AMOUNT = 100  # of the program's currency


def get_caps(connection: Connection, program_id: int, currency: str | None = None) -> AgentCaps:
    """Return a program's caps; those in money that no owner set are 100.00 of `currency` (its own if not named)."""
    joined = programs.outerjoin(agent_caps, agent_caps.c.program_id == programs.c.id)
    columns = [agent_caps.c[cap.name] for cap in CAPS]
    row = connection.execute(
        select(programs.c.currency, *columns).select_from(joined).where(programs.c.id == program_id)
    ).one()
    cents = DEFAULT_AMOUNT * 10 ** currencies.digits(currency or row.currency)
    defaults = AgentCaps(highest_flat_rate_cents=cents, highest_lead_commission_cents=cents)
    chosen = {cap.name: getattr(row, cap.name) for cap in CAPS if getattr(row, cap.name) is not None}
    if "frozen_settings" in chosen:
        chosen["frozen_settings"] = tuple(chosen["frozen_settings"].split())
    return defaults._replace(**chosen)


def change(
    connection: Connection, program_id: int, changes: Mapping[str, Any], *, actor: Actor, at: datetime
) -> AgentCaps:
    """Change caps, as the API names them, log it and return all. Raises ValidationError."""
    connection.execute(select(programs.c.id).where(programs.c.id == program_id).with_for_update())
    before = get_caps(connection, program_id)
    values = stored_percents(changes, CAPS)
    if "frozen_settings" in values:
        values["frozen_settings"] = " ".join(name for name in FREEZABLE if name in values["frozen_settings"])
    mine = agent_caps.c.program_id == program_id
    if values and not connection.execute(select(agent_caps.c.program_id).where(mine)).all():
        connection.execute(insert(agent_caps).values(program_id=program_id))
    if values:
        connection.execute(update(agent_caps).where(mine).values(**values))
    after = get_caps(connection, program_id)
    entries = audit.changed("agent_caps.change", program_id, published(before, CAPS), published(after, CAPS))
    audit.write(connection, program_id, entries, actor=actor, at=at)
    return after


def require_within(
    connection: Connection, program_id: int, before: ProgramSettings, after: ProgramSettings, *, at: datetime
) -> None:
    """Raise OverCap for a change by an agent key beyond the caps; the program's row is locked by the caller."""
    caps = get_caps(connection, program_id, after.currency)
    frozen = rules.frozen(caps, before, after)
    if frozen:
        raise OverCap(f"An owner has frozen {' and '.join(frozen)}.", cap="frozen_settings")
    asked = RateTerms(after.commission_type, after.rate, after.platform_fee_bps, by_agent=True)
    versions = [*_versions(connection, program_id, since=at - WINDOW), asked]
    cap = rules.exceeded_ceiling(caps, before, after) or rules.exceeded_step(caps, versions)
    if cap is not None:
        raise OverCap(f"The change exceeds {cap}, a cap for agent keys: {published(caps, CAPS)[cap]}.", cap=cap)


def _versions(connection: Connection, program_id: int, *, since: datetime) -> list[RateTerms]:
    """Return the terms since then, oldest first, after the last earlier ones of each commission type."""
    terms = commission_terms.c
    mine = terms.program_id == program_id
    earlier = select(func.max(terms.version)).where(mine, terms.created_at <= since).group_by(terms.commission_type)
    needed = or_(terms.created_at > since, terms.version.in_(earlier))
    rows = connection.execute(select(commission_terms).where(mine, needed).order_by(terms.version))
    return [
        RateTerms(row.commission_type, row.rate, row.platform_fee_bps, row.by_agent and row.created_at > since)
        for row in rows
    ]
