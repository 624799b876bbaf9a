"""The links that visitors followed one after the other before they became customers, as their clicks say."""

import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from storage.engine.statements import read_statement
from storage.rules.attribution import AttributionModel, FollowedLink
from storage.rules.draft import Draft
from storage.tables.columns import Timestamp

MOST_LINKS = 20  # of a visitor, the last ones
MOST_OUTRANKED = 100_000
_CLICKS, _OUTRANKED = (read_statement(f"{name}_links", at=Timestamp) for name in ("followed", "outranked"))


class FollowedLinks:
    """The clicks that did not count beside an earlier one; those of customers, and the ones that they replaced."""

    def __init__(self, connection: Connection, program_id: int, draft: Draft) -> None:
        self.draft = draft
        self._clicks: dict[str, tuple[FollowedLink, str | None]] = {}  # with the click that each replaced
        self._outranked: defaultdict[str | None, list[FollowedLink]] = defaultdict(list)  # by the click that was kept
        if draft.moves_clicks and draft.current.attribution_model == AttributionModel.FIRST_CLICK:
            for row in connection.execute(_OUTRANKED, {"program_id": program_id, "most": MOST_OUTRANKED}):
                self._outranked[_carried(row)].append(FollowedLink(*row[:3]))

    def load(self, connection: Connection, program_id: int, click_ids: Iterable[str]) -> None:
        """Load the clicks of customers, and those before them, unless the draft leaves them alone."""
        wanted = {*click_ids} if self.draft.moves_clicks else set[str]()
        for _ in range(MOST_LINKS):
            wanted -= self._clicks.keys()
            found = (
                connection.execute(_CLICKS, {"program_id": program_id, "click_ids": sorted(wanted)}) if wanted else ()
            )
            read = {row.click_id: (FollowedLink(*row[:3]), _carried(row)) for row in found}
            self._clicks |= read
            wanted = {replaced for _, replaced in read.values() if replaced}

    def credit(self, customer: Any, at: datetime | None = None) -> FollowedLink | None:
        """Return the click that a customer would have come with, by `at` or earlier; None if there was none."""
        own, links = FollowedLink(customer.click_id, customer.partner_id, customer.clicked_at), list[FollowedLink]()
        if own.click_id not in self._clicks:
            return own
        came_at = min(filter(None, (customer.created_at, customer.signup_at, customer.first_purchase_at, at)))
        click_id: str | None = customer.click_id
        while click_id in self._clicks and len(links) < MOST_LINKS:
            link, replaced = self._clicks[click_id]
            links += [*(each for each in self._outranked.get(click_id, ()) if each.at <= came_at), link]
            click_id = replaced
        links.sort(key=lambda each: each.at)
        return self.draft.credit(own, links, came_at)


def _carried(row: Any) -> str | None:
    """Return the click that a visitor carried when they followed a link."""
    carried: str | None = json.loads(row.visitor or "{}").get("existing_click_id")
    return carried
