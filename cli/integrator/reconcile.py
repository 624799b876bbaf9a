"""`svc reconcile FILE.csv`: compare a Stripe export with the recorded sales; --fix sends corrections."""

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.integrator import project, stripe_export
from cli.integrator.accounts import ProgramId, chosen
from cli.integrator.output import Answer, Failure, command, plain, say

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


@command()
def reconcile(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Stripe's export of payments, or its balance report.")],
    program: ProgramId = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Send the calls that correct the differences, with SERVICE_API_KEY.")
    ] = False,
) -> Answer:
    """Compare a Stripe export with the sales: missing or doubled, wrong amounts, missing refunds and renewals.

    Without --fix nothing changes. The calls that --fix sends can be repeated safely. Exit code 0: everything agrees
    or was fixed; 1: differences remain.

    Example: svc reconcile payments.csv --fix
    """
    payments, wrong = stripe_export.read(file)
    service, program_id = chosen(program)
    findings, unattributed = list[dict[str, Any]](), 0
    for batch in _batches(payments):
        found = service.call("POST", f"/api/programs/{program_id}/reconciliation", {"payments": batch})
        findings += found["findings"]
        unattributed += found["unattributed"]
    findings.sort(key=lambda finding: finding["line"])
    fixed = _fix(findings) if fix else 0
    for finding in findings:
        _say(finding)
    for line, problem in wrong:
        say(f"line {line}: [yellow]not read[/]: {plain(problem)}")
    counts = Counter(finding["code"].replace("_", " ") for finding in findings)
    differences = ", ".join(f"{count} {code}" for code, count in counts.items()) or "no differences"
    text = f"{len(payments)} payments, {unattributed} without a partner: [bold]{differences}[/]"
    if findings and not fixed:
        text += "\nRun it with --fix to correct the differences."
    result = {"findings": findings, "unattributed": unattributed, "payments": len(payments), "fixed": fixed}
    not_read = [{"line": line, "message": problem} for line, problem in wrong]
    return Answer(result | {"not_read": not_read}, text, ok=len(findings) == fixed and not wrong)


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


def _fix(findings: Sequence[dict[str, Any]]) -> int:
    """Send the calls of each finding, in order, and return how many were fixed; save a rejection in its finding."""
    service, fixed = project.service(), 0
    for finding in findings:
        try:
            for call in finding["calls"]:
                service.call("POST", call["path"], call["body"])
        except Failure as failure:
            finding["refusal"] = failure.error
        finding["fixed"] = bool(finding["calls"]) and "refusal" not in finding
        fixed += finding["fixed"]
    say(f"[bold]{fixed}[/] of {len(findings)} fixed")
    return fixed


def _say(finding: dict[str, Any]) -> None:
    def shown(cents: str, currency: str = "currency") -> str:
        return plain(money(int(finding[cents]), str(finding[currency])))

    paid, recorded = f"paid {shown('paid_cents')}", "not recorded"
    if finding["returned_cents"]:
        paid += f", returned {shown('returned_cents')}"
    if finding["recorded_cents"] is not None:
        recorded = f"recorded {shown('recorded_cents', 'recorded_currency')}"
        if finding["recorded_refunded_cents"]:
            recorded += f", refunded {shown('recorded_refunded_cents', 'recorded_currency')}"
    mark = " [green]fixed[/]" if finding.get("fixed") else ""
    code, transaction = finding["code"].replace("_", " "), plain(finding["transaction_id"])
    say(f"line {finding['line']}: [yellow]{code}[/]{mark}: {transaction}, {paid}; {recorded}")
    if finding["reason"]:
        say(f"  {plain(finding['reason'])}")
    if "refusal" in finding:
        say(f"  [red]rejected[/]: {plain(finding['refusal']['code'])}: {plain(finding['refusal']['message'])}")


def money(minor_units: int, currency: str) -> str:
    """Return an amount such as $49.00 or CHF 49.00."""
    digits = DIGITS.get(currency, 2)
    number = f"{abs(Decimal(minor_units).scaleb(-digits)):,.{digits}f}"
    return f"{'-' if minor_units < 0 else ''}{SYMBOLS.get(currency, f'{currency} ')}{number}"
