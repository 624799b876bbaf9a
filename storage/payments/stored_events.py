"""The JSON in which the database stores an event's content: a version, its type and its named fields."""

import json
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, case, cast, func

from storage.engine.database import JsonField
from storage.rules.payment import Content, Introduced, Linked, Paid, Returned, ReturnKind

VERSION = 1


def dump(content: Content) -> str:
    """Return an event's content as JSON for storage."""
    match content:
        case Paid():
            fields = {"type": "paid", **_of_paid(content)}
        case Returned():
            fields = {"type": "returned", **_of_returned(content)}
        case Linked():
            fields = {"type": "linked", "references": content.references}
        case Introduced():
            fields = {"type": "introduced", **content._asdict()}
    return json.dumps({"version": VERSION, **fields})


def load(stored: str) -> Content:
    """Return an event's content, also from the format before versions: `{"Paid": {...}}`."""
    fields = json.loads(stored)
    if "version" not in fields:
        [(name, content)] = fields.items()
        fields = {"version": VERSION, "type": name.lower(), **content}
    match fields["version"], fields["type"]:
        case 1, "paid":
            return _paid(fields)
        case 1, "returned":
            return _returned(fields)
        case 1, "linked":
            return Linked(tuple(fields["references"]))
        case 1, "introduced":
            return Introduced(**{name: fields[name] for name in Introduced._fields})
        case version, kind:
            raise ValueError(f"A newer release stored this event (version {version}, {kind}): upgrade this one.")


def currency(stored: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the column of a payment's currency; null for other events."""
    return _field(stored, "currency")


def amount_cents(stored: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the column of a payment's amount, in minor units of its currency; null for other events."""
    return case((currency(stored).is_not(None), cast(_field(stored, "amount_cents"), BigInteger)))


def _field(stored: ColumnElement[Any], name: str) -> ColumnElement[Any]:
    return func.coalesce(JsonField(stored, name), JsonField(JsonField(stored, "Paid"), name))


def _of_paid(paid: Paid) -> dict[str, Any]:
    return {
        "transaction_id": paid.transaction_id,
        "references": paid.references,
        "amount_cents": paid.amount_cents,
        "currency": paid.currency,
        "occurred_at": paid.occurred_at.isoformat(),
        "click_id": paid.click_id,
        "customer_key": paid.customer_key,
        "program_id": paid.program_id,
        "processor_customer": paid.processor_customer,
    }


def _paid(fields: dict[str, Any]) -> Paid:
    return Paid(
        transaction_id=fields["transaction_id"],
        references=tuple(fields["references"]),
        amount_cents=fields["amount_cents"],
        currency=fields["currency"],
        occurred_at=datetime.fromisoformat(fields["occurred_at"]),
        click_id=fields["click_id"],
        customer_key=fields["customer_key"],
        program_id=fields["program_id"],
        processor_customer=fields["processor_customer"],
    )


def _of_returned(returned: Returned) -> dict[str, Any]:
    return {
        "reference": returned.reference,
        "return_id": returned.return_id,
        "kind": returned.kind,
        "amount_cents": returned.amount_cents,
        "stands": returned.stands,
        "told_at": returned.told_at.isoformat(),
        **({"listed": [_of_returned(each) for each in returned.listed]} if returned.listed else {}),
    }


def _returned(fields: dict[str, Any]) -> Returned:
    return Returned(
        reference=fields["reference"],
        return_id=fields["return_id"],
        kind=ReturnKind(fields["kind"]),
        amount_cents=fields["amount_cents"],
        stands=fields["stands"],
        told_at=datetime.fromisoformat(fields["told_at"]),
        listed=tuple(_returned(each) for each in fields.get("listed", ())),
    )
