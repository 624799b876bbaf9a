"""`svc doctor [URL]`: run every check, print each finding with its fix, and end with 1 if there is a problem."""

from typing import Annotated, Any

import typer

from cli.integrator import project
from cli.integrator.doctor import ShopFinding, page_checks, service_checks, shop_page
from cli.integrator.output import REJECTED, Failure, Json, Output, answering, plain

LOCAL_PREFIXES = ("localhost", "127.0.0.1")


def doctor(
    url: Annotated[str | None, typer.Argument(help="A page of the shop; default: the program's domain.")] = None,
    as_json: Json = False,
) -> None:
    """Check a shop: tracker, addresses, proxy, policy, consent, cookie, key, rotation, clock, metadata.

    Opens the page with a plain HTTP client, and in Chromium or Chrome where there is one. It records nothing. Exit code
    0: no problem; 1: at least one. Notices do not count.

    Example:
      svc doctor https://shop.example/

    """
    with answering(as_json=as_json) as output:
        status, findings = service_checks.status_or_finding()
        skipped: list[str] = []
        findings += _of_service(status, skipped)
        page_url = url or _front_page(status)
        findings += _of_page(page_url, status, skipped)
        _say(output, page_url, findings, skipped)
        problems = sum(finding.is_problem for finding in findings)
        listed = [finding._asdict() for finding in findings]
        output.result({"url": page_url, "problems": problems, "findings": listed, "skipped": skipped})
    if problems:
        raise typer.Exit(REJECTED)


def _of_service(status: dict[str, Any] | None, skipped: list[str]) -> list[ShopFinding]:
    found = [*service_checks.check_clock(project.base_url())]
    if status is None:
        skipped += ["rotation", "metadata"]
        return found
    found += service_checks.check_key(status, project.settings()[project.PROGRAM])
    return [*found, *service_checks.check_payments(status)]


def _of_page(url: str | None, status: dict[str, Any] | None, skipped: list[str]) -> list[ShopFinding]:
    if url is None:
        return [ShopFinding("no_page", "There is no page to open.", "Give its URL: svc doctor URL.")]
    program = project.settings()[project.PROGRAM] or str((status or {}).get("program_id", ""))
    try:
        page = shop_page.fetch(url)
    except Failure as failure:
        return [ShopFinding(failure.error["code"], failure.error["message"], failure.error["hint"])]
    if page.browser is None:
        skipped.append("browser (no Chromium, Chrome or Edge: tags that a script adds are not seen)")
    domain = str((status or {}).get("domain", ""))
    return [*page_checks.check(page, base_url=project.base_url().rstrip("/"), program_id=program, domain=domain)]


def _front_page(status: dict[str, Any] | None) -> str | None:
    """Return the URL of the program's domain."""
    if status is None:
        return None
    scheme = "http" if status["domain"].startswith(LOCAL_PREFIXES) else "https"
    return f"{scheme}://{status['domain']}/"


def _say(output: Output, url: str | None, findings: list[ShopFinding], skipped: list[str]) -> None:
    for finding in findings:
        label = "[red]problem[/]" if finding.is_problem else "[yellow]notice[/] "
        output.say(f"  {label}  {finding.code}: {plain(finding.message)}")
        output.say(f"           {plain(finding.fix)}")
    for each in skipped:
        output.say(f"  skipped  {plain(each)}")
    if not any(finding.is_problem for finding in findings):
        output.say(f"No problem found on {plain(url)}.")
