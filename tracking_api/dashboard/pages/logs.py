"""The logs: events, rejected calls by cause, and the audit log: who changed what, before and after."""

import re
from datetime import datetime, timedelta
from typing import Any

from markupsafe import Markup

from storage.lists import rejected_calls
from storage.lists.audit_log import AUDIT_LOG, Entry
from storage.lists.events import EVENTS
from storage.lists.rejected_calls import REJECTED_CALLS
from storage.rules import errors
from tracking_api.dashboard.pages import text
from tracking_api.dashboard.pages.lists import ListPage, ListState
from tracking_api.dashboard.pages.page_context import PageContext

EXAMPLES = 5
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
    "saved_view": "/explore",
}
PAST = {  # of verbs that do not end in "ed"
    "enrol": "added",
    "flag": "flagged",
    "regenerate": "replaced",
    "withdraw": "withdrawn",
    "empty": "emptied",
    "logo": "logo changed",
    "undo_import": "import undone",
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(Z|[+-]\d\d:\d\d)$")


async def _causes(context: PageContext, state: ListState) -> dict[str, Any]:
    """Return every cause with its latest calls; the page shows them without a search and a period."""
    code = state.query.filters["code"]
    grouped = await context.storage.report(rejected_calls.grouped, context.scope, limit=EXAMPLES, code=code)
    groups = [
        (cause, errors.BY_CODE.get(cause.code), state._replace(listed=calls), calls.next_cursor is not None)
        for cause, calls in grouped
    ]
    organic = await context.read(rejected_calls.count_organic, context.at - timedelta(days=30))
    return {"groups": groups, "code": code, "organic": organic}


def _action(entry: Entry) -> str:
    verb = entry.action.partition(".")[2]
    return f"{text.words(entry.noun)} {PAST.get(verb) or verb.removesuffix('e') + 'ed'}"


def _written(value: Any, field: str, currency: str) -> str | Markup:
    """Return a value as people read it; money and times by their field's name."""
    if isinstance(value, dict):
        parts = (f"{text.words(name)}: {_written(each, name, currency)}" for name, each in value.items() if each)
        written: str | Markup = ", ".join(parts)
    elif isinstance(value, list):
        written = ", ".join(str(_written(each, field, currency)) for each in value)
    elif isinstance(value, bool):
        written = "yes" if value else "no"
    elif isinstance(value, int) and field.endswith("_cents"):
        written = text.money(value, currency)
    elif isinstance(value, str) and field.endswith(("_at", "_by")) and _TIME.match(value):
        written = text.timestamp(datetime.fromisoformat(value))
    else:
        written = "" if value is None else text.plain(value)
    return written


EVENT_LIST = ListPage(EVENTS, "events.html", part="event_list.html", tabs=("live",))
REJECTED_CALL_LIST = ListPage(REJECTED_CALLS, "refused_calls.html", values=_causes)
AUDIT_LIST = ListPage(
    AUDIT_LOG, "audit_log.html", constants={"action_of": _action, "paths": PATHS, "written": _written}
)
