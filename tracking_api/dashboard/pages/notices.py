"""Notices: a short message on the next page, from a cookie that has the name of a message and numbers."""

import re
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

COOKIE = "svc_notice"
SECONDS = 60
_VALUE = re.compile(r"([a-z-]{1,32})((?:\.[0-9]{1,4}){0,2})(?:\.([0-9]{13}))?")
MILLIS = re.compile(r"[0-9]{13}", re.ASCII)

SENTENCES = {
    "program-created": "The program is created. The integration checklist shows the next steps.",
    "program-changed": "The settings are saved. New terms apply to later sales only.",
    "program-deleted": "The program is deleted.",
    "caps-changed": "The caps are saved. They apply to the next change by an agent key.",
    "partner-added": "The partner is added. Copy their referral link and send it to them.",
    "partner-changed": "The partner is changed.",
    "partner-active": "The partner is active.",
    "partner-paused": "The partner is paused: new clicks do not count, but they still earn on earlier customers.",
    "approved": "Approved: {0}.",
    "undone": "Undone: {0}. The commissions are pending again.",
    "rejected": "Rejected: {0}.",
    "paid": "Marked as paid: {0}.",
    "flag-dismissed": "The sign of fraud is dismissed. The commissions that it held are released.",
    "flag-confirmed": "The sign of fraud is confirmed. The commissions that it held are rejected.",
    "account-connected": "The payment account is connected. Send its events to the URL below.",
    "account-disconnected": "The payment account is disconnected. The events that it reported stay.",
    "payment-count": "The payment is counted as a separate sale.",
    "payment-same": "The payment is linked to the sale that your server reported. Its refunds apply to that sale.",
    "payment-recorded": "The payment is recorded as a sale.",
    "payment-retried": "The payment was tried again. Its row shows why it does not count.",
    "payment-dismiss": "Dismissed. Later payments of this customer are dismissed, too.",
    "payment-refund": "The refund is recorded, and its share of the commission is taken back.",
    "rates-imported": "The rates are imported. Send rejected sales again, and try their payments again under Payments.",
    "sandbox-emptied": "The sandbox has no events any more. Its settings, its key and its partners are as before.",
    "nothing-chosen": "Select at least one commission first.",
    "assistant-disconnected": "The assistant is disconnected and cannot read anything any more.",
    "joined": "Welcome: you are a member of the workspace.",
    "member-changed": "The member is changed, from their next request on.",
    "member-removed": "The member is removed from the workspace. Their account stays.",
    "invitation-withdrawn": "The invitation is withdrawn. Its link does not work any more.",
    "preferences-saved": "Your name, theme and time format are saved.",
    "workspace-saved": "The workspace is saved.",
    "logo-saved": "The logo is saved.",
    "logo-removed": "The logo is removed.",
    "owner-changed": "The workspace has a new owner. You are a member of it.",
    "password-changed": "The password is changed, and your other sessions are signed out.",
    "sessions-ended": "Signed out there.",
    "second-factor-off": "The second factor is off.",
    "password-set": "The new password is set. Sign in with it.",
    "signed-out": "You are signed out.",
}
UNDECIDED = " Not changed: {1}, because their status or their hold does not allow it."


class Notice(NamedTuple):
    """The message of the next page; `good` is False if something was not done.

    `decided_at` is the time of approvals that can be undone, in milliseconds.
    """

    text: str
    good: bool
    decided_at: int | None = None


def leave(response: Response, name: str, *numbers: int) -> Response:
    """Show a notice on the next page that the visitor opens."""
    value = ".".join([name, *map(str, numbers)])
    response.set_cookie(COOKIE, value, max_age=SECONDS, httponly=True, samesite="lax")
    return response


def clear(response: Response) -> None:
    """Delete the waiting notice."""
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")


def waiting(request: Request) -> Notice | None:
    """Return the visitor's waiting notice."""
    sent = _VALUE.fullmatch(request.cookies.get(COOKIE, ""))
    if sent is None or sent[1] not in SENTENCES:
        return None
    numbers = [int(number) for number in sent[2].split(".") if number]
    left = len(numbers) == 2 and numbers[1] > 0  # noqa: PLR2004 - done and left
    sentence = SENTENCES[sent[1]] + (UNDECIDED if left else "")
    try:
        return Notice(
            sentence.format(*numbers), not left and sent[1] != "nothing-chosen", int(sent[3]) if sent[3] else None
        )
    except IndexError:
        return None
