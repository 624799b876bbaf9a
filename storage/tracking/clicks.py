"""Clicks: a visitor arrived through a partner's link."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, select, update

from storage.engine.group_commit import set_based
from storage.engine.statements import Statement
from storage.rules import attribution, click_details, keys
from storage.rules.attribution import FollowedLink, PartnerStatus, ProgramStatus
from storage.rules.click_details import NOWHERE, Agent
from storage.rules.errors import AffMissing, PartnerNotFound, ProgramNotFound, ServiceError
from storage.tables import clicks
from storage.tables.columns import from_millis, to_millis
from storage.tracking import rollups

FILLED_AT_ONCE = 500
_find = Statement("click_lookup")
_respell = Statement("click_respelled")
_insert = Statement("click_insert")
_Link = tuple[int, str, str | None]  # a program, a code, and the click that the visitor carries


class Click(NamedTuple):
    program_id: int
    code: str
    landing_url: str
    at: datetime
    click_id: str  # drawn before the write, so that the primary key rejects a second run
    existing_click_id: str | None = None
    filtered: str | None = None  # why it does not count: bot, prefetch
    page_url: str | None = None
    page_title: str | None = None
    referrer_url: str | None = None
    visitor: str | None = None  # JSON text
    referrer_host: str | None = None
    ad_markers: str | None = None  # names, separated by commas
    address_hash: str | None = None
    dimensions: str | None = None  # JSON text
    parameter: str = attribution.AFF  # of the link, which carries the code


class ClickResult(NamedTuple):
    """The click that the visitor now carries."""

    click_id: str
    partner_code: str
    cookie_window_days: int


class PartnerInactive(NamedTuple):
    """The link's partner or program does not accept clicks now, so none is counted."""

    message: str


ClickOutcome = ClickResult | PartnerInactive | ServiceError


@set_based
def record(connection: Connection, batch: Sequence[Click]) -> list[ClickOutcome]:
    """Record a batch of clicks; each result is a ClickResult, a PartnerInactive, or the error."""
    followed = [(click.program_id, click.code, click.existing_click_id) for click in batch]
    links = list(dict.fromkeys(followed))  # many visitors follow the same link
    rows = _look_up(connection, links)
    respelled = _respelled(connection, [link for link, row in rows.items() if row.partner_id is None])
    if respelled:
        found = _look_up(connection, list(respelled.values()))
        rows |= {link: found[other] for link, other in respelled.items()}
    outcomes: list[ClickOutcome] = []
    inserted: list[tuple[Any, ...]] = []
    counted: Counter[tuple[int, int, date]] = Counter()
    for click, link in zip(batch, followed, strict=True):
        row: Any = rows.get(link)
        outcome = ProgramNotFound() if row is None else _decide(click, row)
        outcomes.append(outcome)
        if isinstance(outcome, ClickResult) and outcome.click_id == click.click_id:
            # Integrators test with headless browsers.
            filtered = None if row.sandbox_of is not None and click.filtered == "bot" else click.filtered
            inserted.append(_row(click, row.partner_id, filtered))
            if filtered is None:
                counted[click.program_id, row.partner_id, click.at.date()] += 1
        elif isinstance(outcome, ClickResult) and row.existing_partner_id != row.partner_id:
            inserted.append(_row(click, row.partner_id, click.filtered or attribution.OUTRANKED))
    if inserted:
        _insert(connection, inserted)
        rollups.add(connection, [rollups.Increment(*key, clicks=count) for key, count in counted.items()])
    return outcomes


def unseen(program_id: int, url: str, at: datetime) -> Click:
    """Return a click that stands for one that no one saw."""
    return Click(program_id, "", url, at, keys.click_id(program_id, at))


def stand_in(connection: Connection, sent: Sequence[tuple[Click, int]], *, why: str) -> list[str]:
    """Store clicks, each of a partner, that count nowhere, with the reason; return their ids."""
    if sent:
        _insert(connection, [_row(click, partner_id, why) for click, partner_id in sent])
    return [click.click_id for click, _ in sent]


def fill_dimensions(connection: Connection, agent_of: Callable[[str | None], Agent]) -> int:
    """Fill the dimensions of FILLED_AT_ONCE clicks from before they had any, without a country; return how many."""
    row = clicks.c
    stored = select(row.program_id, row.click_id, row.landing_url, row.referrer_url, row.visitor)
    unfilled = stored.where(row.dimensions.is_(None)).order_by(row.program_id, row.click_id).limit(FILLED_AT_ONCE)
    filled = []
    for click in connection.execute(unfilled):
        visitor = json.loads(click.visitor or "{}")
        agent = agent_of(visitor.get("user_agent"))
        language = visitor.get("language")
        described = click_details.describe(click.landing_url, agent, NOWHERE, language)
        host = click_details.referrer_host(click.referrer_url)
        markers = click_details.ad_markers(click.landing_url)
        said = {"referrer_host": host, "ad_markers": markers, "dimensions": described}
        filled.append({"program": click.program_id, "click": click.click_id, **said})
    if filled:
        this = (row.program_id == bindparam("program"), row.click_id == bindparam("click"))
        connection.execute(update(clicks).where(*this), filled)
    return len(filled)


def _look_up(connection: Connection, links: Sequence[_Link]) -> dict[_Link, Any]:
    found = _find(connection, [[program_id, n, *link] for n, (program_id, *link) in enumerate(links)])
    return {links[row.n]: row for row in found}


def _respelled(connection: Connection, unknown: Sequence[_Link]) -> dict[_Link, _Link]:
    """Return links whose code no partner has as it is, with the code of the partner who has it in other spelling."""
    spelled = [[program_id, n, attribution.code_key(code)] for n, (program_id, code, _) in enumerate(unknown)]
    found = _respell(connection, spelled) if spelled else ()
    return {link: (link[0], row.code, link[2]) for row in found for link in [unknown[row.n]]}


def _decide(click: Click, row: Any) -> ClickOutcome:
    if click.parameter not in {attribution.AFF, row.old_links}:
        return AffMissing()
    if row.partner_id is None:
        return PartnerNotFound(f"No partner of this program has the code {click.code[:64]!r}.")
    if row.status != ProgramStatus.ACTIVE:
        return PartnerInactive("The program is paused and takes no clicks.")
    if row.partner_status != PartnerStatus.ACTIVE:
        return PartnerInactive("The partner of this link is not active in the program.")
    if row.existing_at is not None:
        carried = str(click.existing_click_id)
        existing = FollowedLink(carried, row.existing_partner_id, from_millis(row.existing_at))
        if attribution.keeps_existing(existing, FollowedLink(click.click_id, row.partner_id, click.at), row):
            return ClickResult(carried, row.existing_code, row.cookie_window_days)
    return ClickResult(click.click_id, row.partner_code, row.cookie_window_days)


def _row(click: Click, partner_id: int, filtered: str | None) -> tuple[Any, ...]:
    visit = (click.landing_url, click.page_url, click.page_title, click.referrer_url, click.visitor)
    details = (click.referrer_host, click.ad_markers, click.address_hash, click.dimensions)
    return (click.program_id, click.click_id, partner_id, to_millis(click.at), filtered, *visit, *details)
