"""The lines that prove a step of the checklist, with the program's own values in them; never a secret."""

import json
from typing import Any, NamedTuple

from tracking_api.dashboard.pages.seen import Seen

KEY = "$SERVICE_API_KEY"
TEST = {"additional_data": {"test_mode": True}}


class Snippet(NamedTuple):
    """What a step is called, when it is done, and what to copy."""

    title: str
    how: str
    code: str


def of_step(step: str, see: Seen, link: str | None) -> Snippet:
    """Return the snippet of a checklist step; `link` is a partner's referral link, None while there is no partner."""
    landing = link or f"https://{see.program.settings.domain}/?aff=<partner code>"
    customer = {"customer_key": "<your id of this user>"}
    click = {"click_id": "<the cookie svc_click_id>"}
    payment = {"transaction_id": "<your id of this payment>", "amount_cents": 4900, "currency": see.currency}
    snippets = {
        "tracker_installed": Snippet(
            "Install the tracker", "Put this line into the head of every page of your site.", _script(see)
        ),
        "test_click": Snippet(
            "Send a test click", "From a terminal that has the program key:", _call(see, "click", _test(see, landing))
        ),
        "test_lead": Snippet("Send a test lead", "The same, as your server will do it:", _call(see, "lead", TEST)),
        "test_sale": Snippet("Send a test sale", "It makes no commission:", _call(see, "sale", TEST)),
        "live_click": Snippet("See a live click", "Open a partner's referral link in your browser:", landing),
        "live_lead": Snippet(
            "Report a live lead", "From your server, when a visitor signs up:", _call(see, "lead", click | customer)
        ),
        "live_sale": Snippet(
            "Report a live sale", "From your server, when a customer pays:", _call(see, "sale", customer | payment)
        ),
    }
    return snippets[step]


def _script(see: Seen) -> str:
    return f'<script src="{see.base_url}/js/svc-tracker.js" data-svc-program-id="{see.program.id}" async></script>'


def _test(see: Seen, landing: str) -> dict[str, Any]:
    return {"program_id": see.program.id, "affiliate_url": landing, **TEST}


def _call(see: Seen, call: str, sent: dict[str, Any]) -> str:
    lines = (
        f"curl {see.base_url}/api/v1/track/{call}",
        f'-H "Authorization: Bearer {KEY}"',
        "-H 'Content-Type: application/json'",
        f"-d '{json.dumps(sent)}'",
    )
    return " \\\n  ".join(lines)
