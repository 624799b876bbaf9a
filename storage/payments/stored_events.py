"""The JSON in which the database stores an event's content: a version, its type and its named fields."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from storage.rules.payment import Content, Introduced, Linked, Paid, Returned, ReturnKind

VERSION = 1
KINDS: dict[str, type[Content]] = {"paid": Paid, "returned": Returned, "linked": Linked, "introduced": Introduced}
READERS: dict[str, Callable[[Any], Any]] = {
    "references": tuple,
    "occurred_at": datetime.fromisoformat,
    "told_at": datetime.fromisoformat,
    "kind": ReturnKind,
    "listed": lambda stored: tuple(_read(Returned, each) for each in stored),
}


def dump(content: Content) -> str:
    """Return an event's content as JSON for storage."""
    kind = next(name for name, each in KINDS.items() if isinstance(content, each))
    return json.dumps({"version": VERSION, "type": kind, **_fields(content)}, default=datetime.isoformat)


def load(stored: str) -> Content:
    """Return an event's content, also from the format before versions: `{"Paid": {...}}`."""
    fields = json.loads(stored)
    if "version" not in fields:
        [(name, content)] = fields.items()
        fields = {"version": VERSION, "type": name.lower(), **content}
    version, kind = fields["version"], fields["type"]
    if version != VERSION or kind not in KINDS:
        raise ValueError(f"A newer release stored this event (version {version}, {kind}): upgrade this one.")
    return _read(KINDS[kind], fields)


def _fields(content: Content) -> dict[str, Any]:
    fields = content._asdict()
    if not fields.get("is_bare"):
        fields.pop("is_bare", None)
    listed = [_fields(each) for each in fields.pop("listed", ())]
    return fields | ({"listed": listed} if listed else {})


def _read(kind: type[Content], fields: dict[str, Any]) -> Any:
    stored = {name: fields[name] for name in kind._fields if name in fields}
    return kind(**{name: READERS[name](value) if name in READERS else value for name, value in stored.items()})
