"""The files of a payout, and the statements of partners, for members and agents."""

import asyncio
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.payout_files import pdf, statement
from presentation.payout_files.provider import Batch, PartnerPayment, PayoutProvider, reference_of, total, write_file
from presentation.payout_files.sepa import SepaFile
from storage.engine.sealing import Sealer, UnreadableSecretError
from storage.management.payout_methods import open_details
from storage.reports.payments import read_payments
from storage.reports.statements import read_statement
from storage.rules.errors import NotFound, ValidationError
from web.response import ContentResponse

_FILES = tomllib.loads((Path(__file__).parent / "payout_files" / "files.toml").read_text(encoding="utf-8"))
PROVIDERS: dict[str, PayoutProvider] = {
    kind: (SepaFile if kind == "sepa" else PayoutProvider)(kind, **about) for kind, about in _FILES.items()
}
PDF = "application/pdf"
UNREADABLE = "The details of payout methods were encrypted with another SVC_SECRET_KEY than this server has."
# A statement is a page of its own: it has styles, and nothing in it runs or loads anything.
STATEMENT = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'", "Vary": "Accept"}


@operation(NotFound, media="text/csv application/xml", response_headers=("Svc-Payments", "Svc-Payments-Cents"))
async def get_payout_file(call: ApiRequest) -> ContentResponse:
    """Return the file of a payout by which people send its money: paypal, wise, sepa, or csv of all payments."""
    provider = PROVIDERS.get(call.path_name("kind"))
    if provider is None:
        raise NotFound(f"A payout has these files: {', '.join(PROVIDERS)}.")
    paid, content = await asyncio.to_thread(write_file, provider, await read_batch(call))
    number, cents = len(paid.payments), total(paid)
    name = f"payout-{paid.payout_id}-{provider.kind}-{number}-{paid.amount(cents)}-{paid.currency}.{provider.suffix}"
    headers = {"Svc-Payments": str(number), "Svc-Payments-Cents": str(cents)}
    headers["Content-Disposition"] = f'attachment; filename="{quote(name)}"'
    return ContentResponse(content, provider.media_type, headers)


@operation(
    NotFound,
    media=f"text/html {PDF}",
    query={"format": "pdf: as PDF; a request that accepts application/pdf gets it, too."},
)
async def get_statement(call: ApiRequest) -> ContentResponse:
    """Return a partner's statement for a payout as a page, or as PDF."""
    number, headers = call.path_id("number"), call.request.headers
    found = await call.read(read_statement, number, at=call.at)
    page = await asyncio.to_thread(statement.html, found)
    if call.request.query_params.get("format") != "pdf" and PDF not in headers.get("accept", ""):
        return ContentResponse(page.encode(), "text/html; charset=utf-8", STATEMENT)
    content = await asyncio.to_thread(pdf.pdf, page)
    about = {"Content-Disposition": f'inline; filename="statement-{number}.pdf"', "Vary": "Accept"}
    return ContentResponse(content, PDF, about)


async def read_batch(call: ApiRequest) -> Batch:
    """Return the payments of the path's payout, with the details of their methods. Raises NotFound, ValidationError."""
    payout, program, rows = await call.read(read_payments, call.path_id("payout_id"), at=call.at)
    payments = await asyncio.to_thread(_opened, rows, call.sealer)
    reference = payout.reference or reference_of(program.name, payout.created_at.date())
    day = payout.paid_on or call.at.date()
    return Batch(payout.id, program.name, program.currency, day, reference, payments, program.settings.payer_iban)


def _opened(rows: Sequence[Any], sealer: Sealer) -> list[PartnerPayment]:
    """Return payments with the details of their methods. Raises ValidationError if another secret key sealed these."""
    try:
        return [PartnerPayment._make([*about, open_details(sealed, sealer)]) for *about, sealed in rows]
    except UnreadableSecretError:
        raise ValidationError(UNREADABLE) from None
