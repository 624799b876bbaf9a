"""A stand-in for Stripe's API: it opens checkouts, and then delivers the events of a subscription with a trial."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs

import httpx

from tests import stripe_events, threads

CENTS = 4900


class StripeApi(threads.HttpServer):
    """`sessions` are the checkouts that a shop opened, as it described them."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sessions: list[dict[str, str]] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: StripeApi

    def do_POST(self) -> None:
        """Open a checkout, whose page is the shop's own page after it."""
        content = self.rfile.read(int(self.headers["Content-Length"])).decode()
        session = {name: values[0] for name, values in parse_qs(content, keep_blank_values=True).items()}
        self.server.sessions.append(session)
        answer = {"id": "cs_1", "object": "checkout.session", "url": session["success_url"]}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


def deliver_trial(webhook: str, session: dict[str, str], name: str) -> list[str]:
    """Deliver what Stripe sends of a checkout with a trial: the checkout, its free invoice, and the first payment."""
    ours: dict[str, Any] = {"customer": f"cus_{name}", "subscription": f"sub_{name}", "mode": "subscription"}
    free: dict[str, Any] = {"amount": 0, "payment_status": "no_payment_required", "payment_intent": None}
    of_session, of_invoices = metadata(session, "metadata"), metadata(session, "subscription_data[metadata]")
    who: dict[str, Any] = {"customer": ours["customer"], "at": datetime.now(UTC)}
    events = [
        stripe_events.checkout(f"evt_{name}_1", metadata=of_session, at=who["at"], id=f"cs_{name}", **ours, **free),
        stripe_events.invoice(f"evt_{name}_2", amount=0, name=f"in_{name}_0", metadata=of_invoices, **who),
        stripe_events.invoice(
            f"evt_{name}_3", amount=CENTS, name=f"in_{name}_1", metadata=of_invoices, renewal=True, **who
        ),
    ]
    return [_deliver(webhook, event) for event in events]


def metadata(session: dict[str, str], under: str) -> dict[str, str]:
    """Return the metadata of a checkout, or of its subscription."""
    prefix = f"{under}["
    return {name[len(prefix) : -1]: value for name, value in session.items() if name.startswith(prefix)}


def _deliver(webhook: str, event: dict[str, Any]) -> str:
    content, headers = stripe_events.signed(event)
    return str(httpx.post(webhook, content=content, headers=headers).raise_for_status().json()["outcome"])


@contextmanager
def running() -> Iterator[StripeApi]:
    """Run the stand-in until the block ends."""
    with threads.serving(StripeApi()) as server:
        yield server
