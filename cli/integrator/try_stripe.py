"""`svc test stripe`: send a subscription, a renewal and refunds as signed webhooks."""

import hmac
import json
import secrets
import sys
import time
from typing import Annotated, Any

import typer

from cli.integrator import landing, project, status
from cli.integrator.output import Failure, Json, answering, plain
from cli.integrator.service import ServiceClient

CENTS = 4900


def stripe(
    code: Annotated[str, typer.Option(help="The code of the partner who sends the sample visitor.")],
    webhook_secret_stdin: Annotated[
        bool, typer.Option("--webhook-secret-stdin", help="Read the account's webhook secret from standard input.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Send a sample sequence of Stripe events, signed with your webhook secret, to the service.

    It records real sales on the program and refunds them at the end: use a program made for trying.

    Example:
      svc test stripe --code anna --webhook-secret-stdin < webhook-secret.txt

    """
    with answering(as_json=as_json) as output:
        if not webhook_secret_stdin:
            hint = "Use --webhook-secret-stdin."
            raise Failure("usage", "The webhook secret is read from standard input.", hint, exit_code=2)
        secret, service, about = sys.stdin.readline().strip(), ServiceClient(project.base_url()), status.read()
        address = landing.url(about["domain"], code)
        click_id = service.call(
            "POST", "/api/v1/track/click", {"program_id": about["program_id"], "affiliate_url": address}
        ).get("click_id")
        if click_id is None:
            raise Failure("partner_inactive", "This partner's clicks do not count.", "Choose an active partner's code.")
        output.say(f"A visitor follows {plain(address)}")
        steps = []
        for title, event in _events(str(click_id), str(about["program_id"])):
            content = json.dumps(event)
            signature = {"Stripe-Signature": _signature(content, secret)}
            response = service.deliver(f"/api/v1/payments/stripe/{about['program_id']}", content, **signature)
            did = plain(f"{response['outcome']} {response['transaction_id']}")
            output.say(f"[bold]{plain(event['type'])}[/]: {title}\n  {did}")
            steps.append({"type": event["type"], "what": title, "outcome": response["outcome"]})
        output.say("See them on the dashboard: Settings, Payments.")
        output.result({"click_id": click_id, "steps": steps})


def _signature(content: str, secret: str) -> str:
    """Return the header with which Stripe signs a webhook."""
    signed_at = int(time.time())
    return f"t={signed_at},v1={hmac.new(secret.encode(), f'{signed_at}.{content}'.encode(), 'sha256').hexdigest()}"


def _events(click_id: str, program_id: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the sequence: a title and an event for each step."""
    name, now = secrets.token_hex(6), int(time.time())
    metadata = {"svc_click_id": click_id, "program_id": program_id}
    paid = {"currency": "usd", "customer": f"cus_{name}", "metadata": metadata}
    session = {"id": f"cs_{name}", "amount_total": CENTS, "payment_status": "paid", "invoice": f"in_{name}1"}
    first = {"id": f"in_{name}1", "amount_paid": CENTS, "billing_reason": "subscription_create"}
    second = {"id": f"in_{name}2", "amount_paid": CENTS, "billing_reason": "subscription_cycle"}
    back = {"amount_refunded": CENTS, "currency": "usd"}
    refunds = [{"id": f"ch_{name}{number}", "payment_intent": f"pi_{name}{number}", **back} for number in (1, 2)]
    return [
        ("the visitor subscribes", _event("checkout.session.completed", {**paid, **session}, now)),
        ("the invoice of that checkout: the same sale", _event("invoice.paid", _invoice(paid, first, 1, name), now)),
        ("a renewal", _event("invoice.paid", _invoice(paid, second, 2, name), now)),
        ("the renewal is refunded", _event("charge.refunded", refunds[1], now)),
        ("the first payment is refunded", _event("charge.refunded", refunds[0], now)),
    ]


def _invoice(paid: dict[str, Any], invoice: dict[str, Any], number: int, name: str) -> dict[str, Any]:
    parent = {"type": "subscription_details", "subscription_details": {"metadata": paid["metadata"]}}
    payments = {"data": [{"payment": {"type": "payment_intent", "payment_intent": f"pi_{name}{number}"}}]}
    return {**paid, **invoice, "metadata": {}, "parent": parent, "payments": payments}


def _event(kind: str, found: dict[str, Any], created: int) -> dict[str, Any]:
    return {"id": f"evt_{secrets.token_hex(12)}", "type": kind, "created": created, "data": {"object": found}}
