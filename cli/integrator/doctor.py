"""`svc doctor`: what is wrong with a shop's integration, as its pages and the service show it, each with its fix."""

from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Annotated, Any

import httpx2
import typer

from cli.integrator import accounts, page_checks, project, status
from cli.integrator.output import Answer, Failure, command, written
from cli.integrator.page_checks import ShopFinding, finding

MOST_SECONDS_APART = 60


@command()
def doctor(url: Annotated[str | None, typer.Argument()] = None) -> Answer:
    """Check a shop: tracker, addresses, proxy, policy, consent, cookie, key, rotation, clock, metadata."""
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
        findings.append(finding("no_page"))
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
    problems = sum(each.is_problem for each in findings)
    listed = [each._asdict() for each in findings]
    result = {"url": url, "problems": problems, "findings": listed, "skipped": skipped}
    return Answer(result, written("integrator/doctor", **result), ok=not problems)


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
        yield finding("clock", seconds=round(apart))


def _check_program(status: dict[str, Any], program_id: str, base_url: str) -> Iterator[ShopFinding]:
    """Yield what is wrong with the program key and what it recorded, and if no recent payment names a customer."""
    if program_id and str(status["program_id"]) != program_id:
        yield finding("other_key", key_program=status["program_id"], program_id=program_id)
    if status["rotate_by"]:
        yield finding("key_rotation", rotate_by=status["rotate_by"], base_url=base_url)
    if status["refused_calls_24h"]:
        yield finding("rejected_calls", calls=status["refused_calls_24h"])
    latest = status.get("latest_payments")
    if latest and not latest["events"]:
        yield finding("no_payment_events")
    elif latest and latest["payments"] and not latest["with_customer"]:
        yield finding("metadata_missing", payments=latest["payments"])
