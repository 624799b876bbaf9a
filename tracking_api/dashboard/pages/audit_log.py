"""The audit log: who changed what, with names, links, and the value before and after."""

import json
import re
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from storage.reading import audit_subjects
from storage.reading.audit_subjects import EntryMatch, NamedEntry, SubjectName
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import csv_export, filters, lists, page_context, templates, text
from tracking_api.dashboard.pages.csv_export import Read
from tracking_api.dashboard.pages.lists import Choice, Column, List, ListState
from tracking_api.dashboard.pages.page_context import PageContext

# The page of the program that shows what an action is about; `{id}` is the subject's.
PATHS = {
    "partner": "/partners/{id}",
    "commission": "/commissions/{id}",
    "flag": "/review",
    "member": "/settings/members",
    "account": "/settings/members",
    "payment_event": "/settings/payments",
    "payment_account": "/settings/payments",
    "program": "/settings",
    "program_key": "/settings/api-keys",
    "agent_caps": "/settings/agent-caps",
    "sandbox": "/settings/sandbox",
}
VERBS = {
    "enrol": "added",
    "change": "changed",
    "create": "created",
    "decide": "decided",
    "raise": "raised",
    "flag": "flagged",
    "regenerate": "replaced",
    "import": "imported",
    "connect": "connected",
    "disconnect": "disconnected",
    "invite": "invited",
    "join": "joined",
    "remove": "removed",
    "withdraw": "withdrawn",
    "empty": "emptied",
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(Z|[+-]\d\d:\d\d)$")


class LogRow(NamedTuple):
    """An entry as the page shows it."""

    at: datetime
    who: str
    by: str
    action: str
    subject: str
    path: str
    field: str
    before: str | Markup
    after: str | Markup


LIST = List(
    "Audit log",
    (
        Column("at", "When", sort="", is_time=True),
        Column("who", "Who", sort="who"),
        Column("what", "What", sort="what"),
        Column("field", "Field", sort="field"),
        Column("before", "Before"),
        Column("after", "After"),
    ),
    search="Who, field, or the id of what changed",
    choices=(Choice("noun", "About", text.pairs(PATHS)),),
)
HEADER = ["id", "at", "actor", "actor_type", "action", "subject_id", "subject", "field", "before", "after"]


async def list_audit_log(request: Request) -> Response:
    """List the changes."""
    context = await page_context.as_member(request)
    state = lists.state(request, LIST)
    listed = await _read(request, context, state)(state.query)
    written = partial(_row, currency=context.currency)
    return templates.render(request, "audit_log.html", context=context, list=state.holding(listed), written=written)


async def export_audit_log(request: Request) -> Response:
    """Return the changes of the filtered list as a CSV file."""
    context = await page_context.as_member(request)
    name = f"audit-log-{context.program.id}-{context.at:%Y-%m-%d}"
    return csv_export.file(name, _read(request, context, lists.state(request, LIST)), HEADER, _cells)


def _read(request: Request, context: PageContext, state: ListState) -> Read[NamedEntry]:
    match = EntryMatch(state.search, filters.text(request, "noun"), state.span)
    read = storage_of(request).read
    return lambda query: read(audit_subjects.list_named, context.program.id, query, match)


def _cells(named: NamedEntry) -> list[object]:
    entry, name = named.entry, named.subject.name if named.subject else None
    who = (entry.actor.name, entry.actor.type)
    values = (None if value is None else json.dumps(value) for value in (entry.before, entry.after))
    return [entry.id, entry.at, *who, entry.action, entry.subject_id, name, entry.field, *values]


def _row(named: NamedEntry, currency: str) -> LogRow:
    entry, subject, path = named.entry, named.subject, PATHS.get(named.noun, "")
    verb = entry.action.partition(".")[2]
    return LogRow(
        entry.at,
        entry.actor.name,
        "" if entry.actor.type == "user" else text.words(entry.actor.type),
        f"{text.words(named.noun)} {VERBS.get(verb, verb.replace('_', ' '))}",
        _name(named.noun, subject) if subject else "",
        path.format(id=entry.subject_id) if subject or "{id}" not in path else "",
        text.words(entry.field) if entry.field else "",
        *(_written(value, entry.field or "", currency) for value in (entry.before, entry.after)),
    )


def _name(noun: str, subject: SubjectName) -> str:
    if subject.amount_cents is not None and subject.currency is not None:
        return f"{text.money(subject.amount_cents, subject.currency)} of {text.plain(subject.name)}"
    return text.words(subject.name) if noun == "flag" else text.plain(subject.name)


def _written(value: Any, field: str, currency: str) -> str | Markup:
    """Return a value as people read it; money and times by their field's name."""
    if isinstance(value, dict):
        parts = (f"{text.words(name)}: {_written(each, name, currency)}" for name, each in value.items() if each)
        written: str | Markup = ", ".join(parts)
    elif isinstance(value, list):
        written = text.plain(", ".join(map(str, value)))
    elif isinstance(value, bool):
        written = "yes" if value else "no"
    elif isinstance(value, int) and field.endswith("_cents"):
        written = text.money(value, currency)
    elif isinstance(value, str) and field.endswith(("_at", "_by")) and _TIME.match(value):
        written = text.timestamp(datetime.fromisoformat(value))
    else:
        written = "" if value is None else text.plain(value)
    return written
