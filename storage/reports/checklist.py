"""The integration checklist: which steps are verified by what they say, since when, and how to verify the next one."""

import re
import tomllib
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, select

from storage.engine.statements import read_statement
from storage.tables import programs
from storage.tables.columns import Timestamp

MOST_CLICKS = 1_000  # the first ones, and the latest ones: the pages of these are looked at
MOST_MILLIS_LATE = 24 * 60 * 60 * 1_000  # a sale that is reported later does not show that live sales arrive
_TEXTS = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
FIRST_ACTIONS, NEXT_ACTIONS = tomllib.loads(_TEXTS).values()
_PROVED = read_statement("checklist", **dict.fromkeys((*FIRST_ACTIONS, *NEXT_ACTIONS), Timestamp))
_SHOWN_KEY = read_statement("shown_key", created_at=Timestamp)
_CLICKED_PAGES = read_statement("clicked_pages", at=Timestamp)
_PAGE = re.compile(r"https?://(?:[^/?#@]*@)?([^/?#:]+)(:\d+)?([^?#]*)")


class ChecklistStep(NamedTuple):
    """One step; `verified_at` is when it was first verified, `next_action` how to verify an open one."""

    step: str
    done: bool
    verified_at: datetime | None
    next_action: str | None


def list_steps(connection: Connection, program_id: int, *, base_url: str) -> list[ChecklistStep]:
    """Return what a new program needs first, and its checklist; `base_url` is for the code to copy."""
    values = {"program_id": program_id, "most_millis_late": MOST_MILLIS_LATE}
    proved: dict[str, datetime | None] = connection.execute(_PROVED, values).one()._asdict()
    proved |= {"program_key": find_shown_key(connection, program_id), **_pages(connection, program_id)}
    actions = {step: text.format(base_url=base_url, program_id=program_id) for step, text in NEXT_ACTIONS.items()}
    return [
        ChecklistStep(step, done=(at := proved[step]) is not None, verified_at=at, next_action=None if at else action)
        for step, action in (FIRST_ACTIONS | actions).items()
    ]


def find_shown_key(connection: Connection, program_id: int) -> datetime | None:
    """Return when the program's key was made, if its value was shown: a program is created with a hidden one."""
    # apart from _PROVED: a cluster has keys and events on different nodes
    return connection.execute(_SHOWN_KEY, {"program_id": program_id}).scalar()


def _pages(connection: Connection, program_id: int) -> dict[str, datetime | None]:
    """Return when a page of the program's domains, or below one, first sent a click, and when the sample page did."""
    domains = select(programs.c.domain, programs.c.further_domains).where(programs.c.id == program_id)
    named = " ".join(filter(None, connection.execute(domains).one())).lower().split()
    own = tuple(f".{each.removeprefix('www.')}" for each in named)  # with a port where its pages need one
    proved: dict[str, datetime | None] = {"tracker_installed": None, "sample_page": None}
    for at, page_url in connection.execute(_CLICKED_PAGES, {"program_id": program_id, "most": MOST_CLICKS}):
        page = _PAGE.match((page_url or "").lower())
        if page is not None and page[3] == f"/programs/{program_id}/sample-page":
            proved["sample_page"] = proved["sample_page"] or at
        elif page is not None and (f".{page[1]}".endswith(own) or f".{page[1]}{page[2]}".endswith(own)):
            proved["tracker_installed"] = proved["tracker_installed"] or at
    return proved
