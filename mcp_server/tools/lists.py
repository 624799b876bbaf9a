"""A list tool follows from the declaration of its list: its arguments, what is read, and the page that fits."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from mcp_server.results import BUDGET, JsonRow, fitting, json_of, row_of
from mcp_server.tools.reports import report_range
from mcp_server.tools.tool import Cursor, Identifier, Limit, RowId, Timestamp, Tool, ToolRequest
from presentation.lists import totals_of, visible
from presentation.queries import query_of
from storage.engine import cursors
from storage.lists.declaration import List, ListQuery, ListScope, Page
from storage.lists.find import find
from storage.lists.programs import read_program
from storage.rules.periods.picked_period import pick
from storage.rules.scope import Scope

KINDS: dict[type, Any] = {int: RowId, str: Identifier, bool: bool, datetime: Timestamp}


@dataclass(frozen=True)
class Asked:
    """What a call asks of a list, and all its arguments by name."""

    request: ToolRequest
    of: List[Any]
    scope: ListScope
    query: ListQuery
    arguments: Mapping[str, Any]

    @cached_property
    def stored(self) -> Page[Any]:
        """The page that storage reads, without the fields that the key may not see."""
        found = find(self.request.connection, self.of, self.scope, self.query)
        if found.order != self.query.order:  # more rows match than can be sorted
            del self.request.applied_query["sort"]
        return visible(self.of, found, self.request.key.scopes)

    def page(
        self,
        *,
        row: Callable[[Any], JsonRow] | None = None,
        leave_out: AbstractSet[str] = frozenset(),
        key: Callable[[Any], list[Any]] = lambda each: [each.id],
        budget: int = BUDGET,
        **beside: Any,
    ) -> JsonRow:
        """Return a page: as many rows as fit the budget, as `row` shows them, and what is `beside` them.

        A page that is cut before `limit` rows is `truncated`; `key` returns the values of the cursor that continues
        where it ends. `currency` is that of rows without one of their own.
        """
        rows = [row(each) if row else row_of(each, leave_out=leave_out) for each in self.stored.data]
        data, cursor = fitting(rows, budget), self.stored.next_cursor
        if len(data) < len(rows):
            cursor = cursors.encode([0, *key(self.stored.data[len(data) - 1])])
        shown: JsonRow = {"truncated": len(data) < len(rows), "next_cursor": cursor, "data": data}
        currency = None
        if any(each.is_money for each in self.of.fields) and "currency" not in self.of.row._fields:
            currency = read_program(self.request.connection, self.scope.program_id).settings.currency
        further = {"totals": totals_of(self.stored), "currency": currency, **beside}
        return shown | {name: json_of(each) for name, each in further.items() if each is not None}


def shortened(rows: Sequence[Any], budget: int) -> tuple[list[JsonRow], JsonRow | None]:
    """Return as many rows as fit, and the number of the others with the sums of their figures; None without any."""
    every = json_of(rows)
    shown = fitting(every, budget)
    if not (others := every[len(shown) :]):
        return shown, None
    numbers = [name for name, value in others[0].items() if isinstance(value, int) and not name.endswith("_id")]
    return shown, {"number": len(others), **{name: sum(row[name] for row in others) for name in numbers}}


def list_tool(
    title: str, scope: Scope, wanted: List[Any], *beside: str, **more: Any
) -> Callable[[Callable[[Asked], JsonRow]], Tool]:
    """Make a tool of a function that returns a page of what was asked; `beside` the rows is what outsiders wrote."""
    optional = {each.name: KINDS.get(each.kind, each.kind) for each in wanted.filters if not each.is_for_pages}
    if wanted.finds:
        optional["q"] = Identifier
    if wanted.sums:
        optional |= {"sort": Identifier, "totals": bool}
    if wanted.at is not None or wanted.has_window:
        optional |= dict.fromkeys(("date_from", "date_to"), Timestamp)
    given: dict[str, Any] = {} if wanted.mine else {"program_id": (int, ...)}
    given |= {"limit": (Limit, 25), "cursor": (Cursor | None, None)}
    fields = given | {name: (kind | None, None) for name, kind in optional.items()} | more

    def made(function: Callable[[Asked], JsonRow]) -> Tool:
        def run(request: ToolRequest, **sent: Any) -> JsonRow:
            given = {"totals": sent["cursor"] is None} | {name: each for name, each in sent.items() if each is not None}
            window = None
            if wanted.has_window:  # of the figures: the last 30 days, or from one date to another
                chosen = report_range(request, "30d", sent["date_from"], sent["date_to"])
                window = pick(chosen, at=request.at).window
            key, program_id = request.key, sent.get("program_id", 0)
            scope = ListScope(program_id, request.at, window, [key.workspace_id], key.program_ids)
            return function(Asked(request, wanted, scope, query_of(wanted, given), sent))

        return Tool(function, title, scope, fields, ("data", *beside), run)

    return made
