"""`svc doctor`: what is wrong with a shop's integration, as its pages and the service show it, each with its fix."""

from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Annotated, Any

import httpx2
import typer

from cli.integrator import accounts, page_checks, project, status
from cli.integrator.output import Answer, Failure, command, plain, say
from cli.integrator.page_checks import ShopFinding, notice

MOST_SECONDS_APART = 60


@command()
def doctor(
    url: Annotated[str | None, typer.Argument(help="A page of the shop; default: the program's domain.")] = None,
) -> Answer:
    """Check a shop: tracker, addresses, proxy, policy, consent, cookie, key, rotation, clock, metadata.

    Opens the page with a plain HTTP client, and in Chromium or Chrome where there is one. It records nothing. Exit code
    0: no problem; 1: at least one. Notices do not count.

    Example: svc doctor https://shop.example/
    """
    base_url, skipped = project.base_url().rstrip("/"), list[str]()
    named, domain = project.settings()[project.PROGRAM], ""
    findings = [*check_clock(base_url)]
    try:
        found = status.read()
    except Failure as failure:
        findings.insert(0, _failed(failure))
        skipped += ["rotation", "metadata"]
    else:
        domain = found.get("cookie_domain", "")
        url = url or accounts.site(found["domain"])
        findings += _check_program(found, named, base_url)
        named = named or str(found["program_id"])
    if url is None:
        findings.append(ShopFinding("no_page", "There is no page to open.", "Give its URL: svc doctor URL."))
    else:
        try:
            page = page_checks.fetch(url)
        except Failure as failure:
            findings.append(_failed(failure))
        else:
            findings += page_checks.check(page, base_url=base_url, program_id=named, domain=domain)
            if page.browser is None:
                skipped.append("browser (no Chromium, Chrome or Edge: tags that a script adds are not seen)")
    return _answer(url, findings, skipped)


def _answer(url: str | None, findings: list[ShopFinding], skipped: list[str]) -> Answer:
    for finding in findings:
        label = "[red]problem[/]" if finding.is_problem else "[yellow]notice[/] "
        say(f"  {label}  {finding.code}: {plain(finding.message)}\n           {plain(finding.fix)}")
    for each in skipped:
        say(f"  skipped  {plain(each)}")
    problems = sum(each.is_problem for each in findings)
    listed = [each._asdict() for each in findings]
    result = {"url": url, "problems": problems, "findings": listed, "skipped": skipped}
    return Answer(result, "" if problems else f"No problem found on {plain(url)}.", ok=not problems)


def _failed(failure: Failure) -> ShopFinding:
    error = failure.error
    return ShopFinding(str(error["code"]), str(error["message"]), str(error.get("hint", "")))


def check_clock(url: str) -> Iterator[ShopFinding]:
    """Yield a finding if this machine's clock and the service's differ."""
    try:
        answer = httpx2.get(f"{url}/healthz", timeout=project.TIMEOUT_SECONDS)
        apart = abs((parsedate_to_datetime(answer.headers["date"]) - datetime.now(UTC)).total_seconds())
    except (httpx2.TransportError, httpx2.InvalidURL, KeyError, ValueError):
        return
    if apart > MOST_SECONDS_APART:
        text = f"This machine's clock and the service's are {round(apart)} seconds apart."
        yield ShopFinding("clock", text, "Set the clock (NTP): signed webhooks and times of sales need it.")


def _check_program(status: dict[str, Any], program_id: str, base_url: str) -> Iterator[ShopFinding]:
    """Yield what is wrong with the program key and what it recorded, and if no recent payment names a customer."""
    if program_id and str(status["program_id"]) != program_id:
        text = f"The key is of program {status['program_id']}, SERVICE_PROGRAM_ID is {program_id}."
        yield ShopFinding("other_key", text, "Use the key and the id of the same program, or of the same sandbox.")
    if status["rotate_by"]:
        text = f"The program key must be replaced by {status['rotate_by']}; then every call gets 401."
        fix = f"An owner generates a new one: svc init --generate-key. See {base_url}/docs/key-rotation."
        yield ShopFinding("key_rotation", text, fix)
    if status["refused_calls_24h"]:
        text = f"The service rejected {status['refused_calls_24h']} calls in the last 24 hours."
        yield notice("rejected_calls", text, "svc explain TRANSACTION says why; the dashboard lists them.")
    latest = status.get("latest_payments")
    if latest and not latest["events"]:
        text = "A payment account is connected, but no event has arrived from it."
        yield ShopFinding("no_payment_events", text, "Check the webhook's URL and its events: Settings, Payments.")
    elif latest and latest["payments"] and not latest["with_customer"]:
        text = f"None of the last {latest['payments']} payments has svc_click_id or svc_customer_key in its metadata."
        fix = "Put both into the checkout's metadata, for subscriptions also into subscription_data.metadata."
        yield ShopFinding("metadata_missing", text, fix)
