"""Checks of the service: the program key, its rotation, the clocks, rejected calls, and the last payments' metadata."""

from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from cli.integrator import project
from cli.integrator.doctor import ShopFinding, notice
from cli.integrator.output import Failure
from cli.integrator.service import TIMEOUT_SECONDS, ServiceClient

MOST_SECONDS_APART = 60


def check_key(status: dict[str, Any], program_id: str) -> Iterator[ShopFinding]:
    """Yield what is wrong with the program key and what it recorded."""
    if program_id and str(status["program_id"]) != program_id:
        text = f"The key is of program {status['program_id']}, SERVICE_PROGRAM_ID is {program_id}."
        yield ShopFinding("other_key", text, "Use the key and the id of the same program, or of the same sandbox.")
    if status["rotate_by"]:
        text = f"The program key must be replaced by {status['rotate_by']}; then every call gets 401."
        fix = f"An owner generates a new one: svc init --generate-key. See {project.base_url()}/docs/key-rotation."
        yield ShopFinding("key_rotation", text, fix)
    if status["refused_calls_24h"]:
        text = f"The service rejected {status['refused_calls_24h']} calls in the last 24 hours."
        yield notice("rejected_calls", text, "svc explain TRANSACTION says why; the dashboard lists them.")


def check_clock(url: str) -> Iterator[ShopFinding]:
    """Yield a finding if this machine's clock and the service's differ."""
    try:
        answer = httpx2.get(f"{url}/healthz", timeout=TIMEOUT_SECONDS)
        apart = abs((parsedate_to_datetime(answer.headers["date"]) - datetime.now(UTC)).total_seconds())
    except (httpx2.TransportError, httpx2.InvalidURL, KeyError, ValueError):
        return
    if apart > MOST_SECONDS_APART:
        text = f"This machine's clock and the service's are {round(apart)} seconds apart."
        yield ShopFinding("clock", text, "Set the clock (NTP): signed webhooks and times of sales need it.")


def check_payments(status: dict[str, Any]) -> Iterator[ShopFinding]:
    """Yield a finding if no recent payment names a customer."""
    latest = status.get("latest_payments")
    if latest is None:
        return
    if not latest["events"]:
        text = "A payment account is connected, but no event has arrived from it."
        yield ShopFinding("no_payment_events", text, "Check the webhook's URL and its events: Settings, Payments.")
    elif latest["payments"] and not latest["with_customer"]:
        text = f"None of the last {latest['payments']} payments has svc_click_id or svc_customer_key in its metadata."
        fix = "Put both into the checkout's metadata, for subscriptions also into subscription_data.metadata."
        yield ShopFinding("metadata_missing", text, fix)


def status_or_finding() -> tuple[dict[str, Any] | None, list[ShopFinding]]:
    """Return the status of the program key, or why there is none."""
    try:
        service = ServiceClient(project.base_url(), project.key())
        return service.call("GET", "/api/v1/cli/status")["data"], []
    except Failure as failure:
        error = failure.error
        return None, [ShopFinding(str(error["code"]), str(error["message"]), str(error.get("hint", "")))]
