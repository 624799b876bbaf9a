"""`svc reconcile FILE.csv`: compare a Stripe export with the recorded sales; --fix sends corrections."""

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.integrator import project, stripe_export
from cli.integrator.output import Failure, Json, Output, answering, plain
from cli.integrator.programs import ProgramId, meant
from cli.integrator.service import ServiceClient

# Babel would know them, at 30 MB, ten times the rest of an integrator's `svc`.
SYMBOLS = {"EUR": "€", "GBP": "£", "JPY": "¥", "USD": "$"}
_DIGITS = {
    0: "ADP AFN ALL BIF BYR CLP DJF ESP GNF IQD IRR ISK ITL JPY KMF KPW KRW LAK LBP LUF MGA MGF MMK MRO PYG RSD RWF "
    "SLL SOS STD SYP TMM TRL UGX UYI VND VUV XAF XOF XPF YER ZMK ZWD",
    3: "BHD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
DIGITS = {code: digits for digits, codes in _DIGITS.items() for code in codes.split()}
BATCH = 900  # the service takes 1,000; a customer's payments stay together


def reconcile(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Stripe's export of payments, or its balance report.")],
    program: ProgramId = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Send the calls that correct the differences, with SERVICE_API_KEY.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare a Stripe export with the sales: missing or doubled, wrong amounts, missing refunds and renewals.

    Without --fix nothing changes. The calls that --fix sends can be repeated safely. Exit code 0: everything agrees
    or was fixed; 1: differences remain.

    Example:
      svc reconcile payments.csv --fix

    """
    with answering(as_json=as_json) as output:
        export = stripe_export.read(file)
        service, program_id = meant(program, output)
        found = _compare(service, program_id, export.payments)
        fixed = _fix(found["findings"], output) if fix else 0
        for finding in found["findings"]:
            _say(output, finding)
        for line, problem in export.wrong:
            output.say(f"line {line}: [yellow]not read[/]: {plain(problem)}")
        left = len(found["findings"]) - fixed
        _sum_up(output, found, len(export.payments), fixed)
        wrong = [{"line": line, "message": problem} for line, problem in export.wrong]
        output.result({**found, "payments": len(export.payments), "mended": fixed, "not_read": wrong})
    if left or export.wrong:
        raise typer.Exit(1)


def _compare(service: ServiceClient, program_id: int, payments: Sequence[dict[str, Any]]) -> dict[str, Any]:
    findings: list[dict[str, Any]] = []
    unattributed = 0
    for batch in _batches(payments):
        found = service.call("POST", f"/api/programs/{program_id}/reconciliation", {"payments": batch})
        findings += found["findings"]
        unattributed += found["unattributed"]
    findings.sort(key=lambda finding: finding["line"])
    return {"findings": findings, "unattributed": unattributed}


def _batches(payments: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the payments in parts that the service accepts, without dividing a customer's payments."""
    batch: list[dict[str, Any]] = []
    for payment in payments:
        full = len(batch) >= BATCH and stripe_export.owner(payment) != stripe_export.owner(batch[-1])
        if full or len(batch) >= BATCH + 100:
            yield batch
            batch = []
        batch.append(payment)
    if batch:
        yield batch


def _fix(findings: Sequence[dict[str, Any]], output: Output) -> int:
    """Send the calls of each finding, in order, and return how many were fixed; save a rejection in its finding."""
    service, fixed = ServiceClient(project.base_url(), project.key()), 0
    for finding in findings:
        try:
            for call in finding["calls"]:
                service.call("POST", call["path"], call["body"])
        except Failure as failure:
            finding["refusal"] = failure.error
        finding["mended"] = bool(finding["calls"]) and "refusal" not in finding
        fixed += finding["mended"]
    output.say(f"[bold]{fixed}[/] of {len(findings)} fixed")
    return fixed


def _say(output: Output, finding: dict[str, Any]) -> None:
    words = finding["code"].replace("_", " ")
    paid = f"paid {_money(finding, 'paid_cents', 'currency')}"
    if finding["returned_cents"]:
        paid += f", returned {_money(finding, 'returned_cents', 'currency')}"
    recorded = "not recorded"
    if finding["recorded_cents"] is not None:
        recorded = f"recorded {_money(finding, 'recorded_cents', 'recorded_currency')}"
        if finding["recorded_refunded_cents"]:
            recorded += f", refunded {_money(finding, 'recorded_refunded_cents', 'recorded_currency')}"
    mark = " [green]fixed[/]" if finding.get("mended") else ""
    output.say(
        f"line {finding['line']}: [yellow]{words}[/]{mark}: {plain(finding['transaction_id'])}, {paid}; {recorded}"
    )
    if finding["reason"]:
        output.say(f"  {plain(finding['reason'])}")
    if "refusal" in finding:
        output.say(f"  [red]rejected[/]: {plain(finding['refusal']['code'])}: {plain(finding['refusal']['message'])}")


def _money(finding: dict[str, Any], cents: str, currency: str) -> str:
    return plain(money(int(finding[cents]), str(finding[currency])))


def money(minor_units: int, currency: str) -> str:
    """Return an amount such as $49.00 or CHF 49.00."""
    digits = DIGITS.get(currency, 2)
    number = f"{abs(Decimal(minor_units).scaleb(-digits)):,.{digits}f}"
    return f"{'-' if minor_units < 0 else ''}{SYMBOLS.get(currency, f'{currency} ')}{number}"


def _sum_up(output: Output, found: dict[str, Any], payments: int, fixed: int) -> None:
    counts = Counter(finding["code"].replace("_", " ") for finding in found["findings"])
    differences = ", ".join(f"{count} {code}" for code, count in counts.items()) or "no differences"
    output.say(f"{payments} payments, {found['unattributed']} without a partner: [bold]{differences}[/]")
    if counts and not fixed:
        output.say("Run it with --fix to correct the differences.")
