"""Notices: a short message on the next page, from a cookie that has the name of a message and numbers, and its undo."""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

COOKIE = "svc_notice"
SECONDS = 60
_VALUE = re.compile(r"([a-z-]{1,32})((?:\.[0-9]{1,16}){0,3})")
SENTENCES = {
    "program-created": "The program is created. The integration checklist shows the next steps.",
    "program-changed": "The settings are saved. New terms apply to later sales only.",
    "program-paused": "The program is paused: new clicks do not count.",
    "program-active": "The program is active.",
    "program-deleted": "The program is deleted.",
    "views-changed": "The saved views are changed.",
    "caps-changed": "The caps are saved. They apply to the next change by an agent key.",
    "partner-added": "The partner is added. Copy their referral link and send it to them.",
    "partner-changed": "The partner is changed.",
    "partner-active": "The partner is active.",
    "partner-paused": "The partner is paused: new clicks do not count, but they still earn on earlier customers.",
    "partners-active": "Activated: {0}.",
    "partners-paused": "Paused: {0}. New clicks do not count, but they still earn on earlier customers.",
    "credited": "Credited. The commission is on hold like any other, and the audit log has the reason.",
    "adjusted": "The balance is changed. The next payout settles it.",
    "customer-moved": "The customer is moved. Their later sales earn this partner.",
    "approved": "Approved: {0}.",
    "undone": "Undone: {0}. The commissions are pending again.",
    "rejected": "Rejected: {0}.",
    "paid": "Marked as paid: {0}.",
    "flags-dismissed": "Dismissed: {0}. The commissions that they held are released.",
    "flags-confirmed": "Confirmed: {0}. The commissions that they held are rejected.",
    "flag-dismissed": "Dismissed. The commissions that it held are released.",
    "flag-confirmed": "Confirmed. The commissions that it held are rejected.",
    "account-connected": "The payment account is connected. Send its events to the URL below.",
    "account-disconnected": "The payment account is disconnected. The events that it reported stay.",
    "payments-count": "Counted separately: {0}.",
    "payments-same": "Linked to the sale that your server reported: {0}.",
    "payments-retry": "Tried again: {0}. The rows that do not count show why.",
    "payments-dismiss": "Dismissed: {0}. Later payments of their customers are dismissed, too.",
    "payment-count": "It is counted separately.",
    "payment-same": "It is linked to the sale that your server reported. Its refunds apply to that sale.",
    "payment-recorded": "The payment is recorded as a sale.",
    "payment-retried": "The payment was tried again. Its row shows why it does not count.",
    "payment-dismiss": "Dismissed. Later payments of this customer are dismissed, too.",
    "payment-refund": "The refund is recorded, and its share of the commission is taken back.",
    "imported": "Imported. You can undo it for an hour, as long as nothing is built on it.",
    "import-undone": "The import is undone: what it added is deleted.",
    "rates-imported": "The rates are imported. Send rejected sales again, and try their payments again under Payments.",
    "sandbox-emptied": "The sandbox has no events any more. Its settings, its key and its partners are as before.",
    "nothing-chosen": "Select at least one row first.",
    "nothing-to-decide": "Nothing to decide. Approve a commission before you mark it as paid; a paid one stays so.",
    "assistant-disconnected": "The assistant is disconnected and cannot read anything any more.",
    "joined": "Welcome: you are a member of the workspace.",
    "member-suspended": "The member is suspended, from their next request on.",
    "member-reactivated": "The member is active again.",
    "role-changed": "The member has another role, from their next request on.",
    "member-removed": "The member is removed from the workspace. Their account stays.",
    "invitation-withdrawn": "The invitation is withdrawn. Its link does not work any more.",
    "preferences-saved": "Your name, theme and time format are saved.",
    "workspace-saved": "The workspace is saved.",
    "logo-saved": "The logo is saved.",
    "logo-removed": "The logo is removed.",
    "owner-changed": "The workspace has a new owner. You are a member of it.",
    "password-changed": "The password is changed, and your other browsers and devices are signed out.",
    "sessions-ended": "Signed out there.",
    "second-factor-off": "The second factor is off.",
    "password-set": "The new password is set. Sign in with it.",
    "signed-out": "You are signed out.",
}
UNDECIDED = " Not changed: {1}, because their status or their hold does not allow it."


class Undo(NamedTuple):
    """The form that undoes what a notice says: its path in the program, its fields, and its button."""

    path: str
    fields: Mapping[str, str]
    label: str = "Undo"


UNDO = {
    "approved": Undo("/commissions/undo", {"decided_at": "{2}"}),
    "imported": Undo("/import/undo", {"import_id": "{0}"}),
    "partner-active": Undo("/partners/{0}", {"status": "paused"}),
    "partner-paused": Undo("/partners/{0}", {"status": "active"}),
    "program-active": Undo("/settings", {"status": "paused"}, "Pause it again"),
    "program-paused": Undo("/settings", {"status": "active"}, "Activate it again"),
    "member-suspended": Undo("/settings/members", {"user_id": "{0}", "action": "reactivate"}),
    "member-reactivated": Undo("/settings/members", {"user_id": "{0}", "action": "suspend"}),
}


def redirect(path: str, name: str = "", *numbers: int) -> Response:
    """Return a redirect to another page, also after a form was posted; the page shows a notice if one is named."""
    response = RedirectResponse(path, status_code=303)
    if name:
        value = ".".join([name, *map(str, numbers)])
        response.set_cookie(COOKIE, value, max_age=SECONDS, httponly=True, samesite="lax")
    return response


def waiting(request: Request) -> dict[str, Any] | None:
    """Return the visitor's waiting notice; `good` is False if something was not done."""
    sent = _VALUE.fullmatch(request.cookies.get(COOKIE, ""))
    if sent is None or sent[1] not in SENTENCES:
        return None
    name, numbers = sent[1], sent[2].split(".")[1:]
    left = "{0}" in SENTENCES[name] and numbers[1:2] not in ([], ["0"])
    undo = None
    try:
        text = (SENTENCES[name] + (UNDECIDED if left else "")).format(*numbers)
    except IndexError:
        return None
    with suppress(KeyError, IndexError):  # without all numbers nothing was done, or it cannot be undone
        path, fields, label = UNDO[name]
        filled = {field: value.format(*numbers) for field, value in fields.items()}
        undo = Undo(path.format(*numbers), filled, label)
    return {"text": text, "good": not left and not name.startswith("nothing"), "undo": undo}
