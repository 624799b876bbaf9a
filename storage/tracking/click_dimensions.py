"""Fills the dimensions of clicks from before they had any, from what those clicks stored."""

import json
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from storage.rules import click_details
from storage.rules.click_details import NOWHERE, Agent
from storage.tables import clicks

ROWS_AT_ONCE = 500


def fill(connection: Connection, agent_of: Callable[[str | None], Agent]) -> int:
    """Fill some clicks that have no dimensions; return how many. Fewer than ROWS_AT_ONCE: none is left.

    Their country is unknown: no IP address was stored.
    """
    row = clicks.c
    stored = select(row.program_id, row.click_id, row.landing_url, row.referrer_url, row.visitor)
    unfilled = stored.where(row.dimensions.is_(None)).order_by(row.program_id, row.click_id).limit(ROWS_AT_ONCE)
    filled = []
    for click in connection.execute(unfilled):
        visitor = json.loads(click.visitor or "{}")
        agent, language = agent_of(visitor.get("user_agent")), visitor.get("language")
        details = click_details.read(click.landing_url, click.referrer_url, None)
        described = click_details.describe(click.landing_url, agent, NOWHERE, language)
        said = {"host": details.referrer_host, "markers": details.ad_markers, "described": described}
        filled.append({"program": click.program_id, "click": click.click_id, **said})
    if filled:
        this = (row.program_id == bindparam("program"), row.click_id == bindparam("click"))
        read = {"referrer_host": "host", "ad_markers": "markers", "dimensions": "described"}
        values: dict[str, Any] = {name: bindparam(parameter) for name, parameter in read.items()}
        connection.execute(update(clicks).where(*this).values(values), filled)
    return len(filled)
