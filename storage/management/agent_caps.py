"""The caps of a program's agent keys: what an owner set, or the default; and whether a change stays within them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select, update

from storage.engine import audit
from storage.engine.database import insert_for
from storage.lists.held import kinds_by_commission
from storage.lists.programs import lock_program
from storage.rules import agent_caps as rules
from storage.rules.agent_caps import CAPS, FREEZABLE, WINDOW, AgentCaps
from storage.rules.commission import CommissionStatus, percent
from storage.rules.errors import CurrencyNotSupported, OverCap, SecondKeyRequired, ServiceError
from storage.rules.fraud.flag import FlagState
from storage.rules.setting_kinds import Kind
from storage.rules.settings import ProgramSettings, published, stored
from storage.tables import agent_caps, agent_decisions, commission_terms, flags, programs
from storage.tracking import currencies
from storage.tracking.corrections import Corrections
from storage.tracking.ledger import PARTNER_KINDS
from storage.tracking.terms_in_force import PROGRAM

RELEASED = "This key dismissed a flag that held the commission, so another key has to decide."
CREDITED = "credited"  # by hand: counted in a day's caps beside what is approved and paid
ISSUED, REPLAYED = "issued", "replayed"  # referral tokens, and rejected calls: each has a cap of its own
OWN_CAP = {ISSUED: ("referrals_in_a_day",), REPLAYED: ("replayed_calls_in_a_day",)}
DAILY = ("commissions_in_a_day", "amount_in_a_day_cents")  # of everything else
USES = "uses of caps"  # what may be collected
HIGHEST_WORTH = 4  # USD: no currency is worth more
AMOUNTS = [cap.name for cap in CAPS if cap.kind == Kind.CENTS]


def get_caps(connection: Connection, program_id: int, currency: str | None = None) -> AgentCaps:
    """Return a program's caps. An amount that no owner set is its default in USD, worth the same in `currency`."""
    if currency is None:
        currency = connection.execute(select(programs.c.currency).where(programs.c.id == program_id)).scalar_one()
    defaults = AgentCaps()
    worth = {}
    for name in AMOUNTS:
        cents = getattr(defaults, name)
        try:
            worth[name] = currencies.convert(connection, cents, currencies.Exchange("USD", currency, date.max))
        except CurrencyNotSupported:  # as if the currency were the dearest of all
            worth[name] = cents * 10 ** currencies.digits(currency) // (100 * HIGHEST_WORTH)
    return defaults._replace(**worth | _chosen(connection, program_id))


def change(connection: Connection, program_id: int, changes: Mapping[str, Any], *, by: audit.By) -> AgentCaps:
    """Change caps, as the API names them, log it and return all. Raises ValidationError."""
    program = lock_program(connection, program_id)
    before = get_caps(connection, program_id, program.settings.currency)
    values = stored(changes, CAPS)
    if "frozen_settings" in values:
        values["frozen_settings"] = " ".join(name for name in FREEZABLE if name in values["frozen_settings"])
    if values:
        row = insert_for(connection)(agent_caps).values(program_id=program_id, **values)
        connection.execute(row.on_conflict_do_update(index_elements=["program_id"], set_=values))
    after = get_caps(connection, program_id, program.settings.currency)
    entries = audit.changed("agent_caps.change", program_id, published(before, CAPS), published(after, CAPS))
    audit.write(connection, program_id, entries, by=by)
    return after


def require_within(
    connection: Connection,
    program_id: int,
    before: ProgramSettings,
    after: ProgramSettings,
    *,
    at: datetime,
    levels: Sequence[ColumnElement[bool]] = tuple(PROGRAM.levels),  # of terms that may have applied, at last their own
) -> None:
    """Raise OverCap for a change by an agent key beyond the caps; the program's row is locked by the caller."""
    caps = get_caps(connection, program_id, after.currency)
    if frozen := rules.frozen(caps, before, after):
        raise OverCap(f"An owner has frozen {' and '.join(frozen)}.", cap="frozen_settings")
    fixed = [name for name in AMOUNTS if name in _chosen(connection, program_id)]
    if fixed and after.currency != before.currency:
        raise OverCap(f"An owner has set {fixed[0]} in {before.currency}.", cap=fixed[0])
    since, versions = at - WINDOW, list[Any]()
    for level in levels:
        found = _versions(connection, program_id, level, since=since)
        if found and found[-1].ended_at is None:
            versions = [each for each in versions if each.version < found[0].version] + found
    uses = [*rules.ceilings(before, after), *rules.steps(caps, versions, after, since=since)]
    _note(connection, caps, [(name, of, value, value) for name, of, value in uses])
    if over := next((name for name, _, value in uses if value > getattr(caps, name)), None):
        cap = over.removesuffix("_bps")
        raise OverCap(f"The change exceeds {cap}, a cap for agent keys: {published(caps, CAPS)[cap]}.", cap=cap)


def _note(connection: Connection, caps: AgentCaps, uses: Iterable[tuple[str, str, Any, Any]]) -> None:
    """Note the uses of caps, each with what it adds and what is used then, for whoever collects them."""
    for name, of, added, used in uses:
        limit = getattr(caps, name)
        numbers = [round(each) for each in (added, max(limit - used, 0), limit)]
        shown = [percent(each) for each in numbers] if name.endswith("_bps") else numbers
        if (noted := connection.info.get(USES)) is not None:
            noted.append(rules.CapUse(name.removesuffix("_bps"), of, *shown))


def _versions(connection: Connection, program_id: int, of: ColumnElement[bool], *, since: datetime) -> list[Any]:
    """Return the terms of a level since a time, after the last of each commission type before it."""
    terms = commission_terms.c
    mine = and_(terms.program_id == program_id, of)
    earlier = select(func.max(terms.version)).where(mine, terms.created_at <= since).group_by(terms.commission_type)
    needed = or_(terms.created_at > since, terms.version.in_(earlier))
    return [*connection.execute(select(commission_terms).where(mine, needed).order_by(terms.version))]


def count(connection: Connection, program_id: int, status: str, *worth: int, by: audit.By) -> None:
    """Count each of what an agent key does, by its worth in cents, in the caps of a day. Raises OverCap."""
    if by.actor.is_agent and worth and (over := count_each(connection, program_id, status, worth, at=by.at)[-1]):
        raise over


def count_each(
    connection: Connection, program_id: int, status: str, worth: Sequence[int], *, at: datetime
) -> list[OverCap | None]:
    """Count what agent keys did today; return an OverCap for each beyond a cap."""
    caps = get_caps(connection, program_id)
    results = list[OverCap | None]()
    row = agent_decisions.c
    of_day = {"program_id": program_id, "day": at.date(), "status": status}
    new = insert_for(connection)(agent_decisions).values(**of_day, commissions=0, cents=0)
    # Until the transaction ends, so that no two decisions pass a cap together.
    locked = new.on_conflict_do_update(index_elements=[*of_day], set_={"cents": row.cents})
    before = used = [*map(int, connection.execute(locked.returning(row.commissions, row.cents)).one())]
    names = OWN_CAP.get(status, DAILY)
    for cents in worth:
        asked = [used[0] + 1, used[1] + cents]
        cap = next((name for name, number in zip(names, asked, strict=False) if number > getattr(caps, name)), None)
        used = used if cap else asked
        message = f"With this one agent keys would exceed {cap}, the cap on what is {status} in a UTC day."
        results.append(OverCap(message, cap=cap) if cap else None)
    uses = [(name, status, now - was, now) for name, was, now in zip(names, before, used, strict=False) if now > was]
    _note(connection, caps, uses)
    counted = update(agent_decisions).where(*(row[name] == value for name, value in of_day.items()))
    connection.execute(counted.values(commissions=used[0], cents=used[1]))
    return results


def obstacles(
    connection: Connection, program_id: int, rows: Sequence[Any], status: CommissionStatus, *, by: audit.By
) -> dict[int, ServiceError]:
    """Return SecondKeyRequired or OverCap for what an agent key may not approve or pay, and count what it may."""
    key_id = int(by.actor.id)
    two_keys = status == CommissionStatus.PAID and get_caps(connection, program_id).two_keys_to_pay
    own = {each.id for each in rows if two_keys and each.approved_by_key_id == key_id}
    errors: dict[int, ServiceError] = {each: SecondKeyRequired() for each in own}
    by_key = and_(flags.c.state == FlagState.DISMISSED, flags.c.decided_by_key_id == key_id)
    released = kinds_by_commission(connection, program_id, [each.id for each in rows], by_key).keys() - own
    errors |= {each: SecondKeyRequired(RELEASED) for each in released}
    free = [each for each in rows if each.id not in errors]
    ledger = Corrections(connection, free)
    worth = [ledger.net(each, PARTNER_KINDS) for each in free]
    over = count_each(connection, program_id, status, worth, at=by.at)
    return errors | {each.id: error for each, error in zip(free, over, strict=True) if error}


def list_used(connection: Connection, program_id: int, at: datetime) -> Sequence[Any]:
    """Return the number and the cents of what agent keys approved, paid, credited or replayed on the UTC day."""
    row = agent_decisions.c
    today = select(row.status, row.commissions, row.cents).where(row.program_id == program_id, row.day == at.date())
    return connection.execute(today.order_by(row.status)).all()


def _chosen(connection: Connection, program_id: int) -> dict[str, Any]:
    row = connection.execute(select(agent_caps).where(agent_caps.c.program_id == program_id)).one_or_none()
    chosen = {cap.name: value for cap in CAPS if (value := getattr(row, cap.name, None)) is not None}
    if "frozen_settings" in chosen:
        chosen["frozen_settings"] = tuple(chosen["frozen_settings"].split())
    return chosen
