"""Settings, Exchange rates: which rates the program lacks, and the form that takes the ECB's file.

All workspaces of the server convert at the same rates, so only a member who owns them all may import some.
"""

import asyncio
from datetime import date

from starlette.requests import Request
from starlette.responses import Response

from storage.access import workspaces
from storage.reports import exchange_rates
from storage.rules import ecb
from storage.rules.errors import Forbidden, PayloadTooLarge, ValidationError
from storage.tracking import currencies
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import notices, page_context, templates, uploads
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext

FILE = "file"
LARGEST = 8 * 1024 * 1024  # four times the file of all days since 1999
ROWS_AT_ONCE = 2_000  # other writes go between two batches
TOO_LARGE = "This file is too large to be the ECB's"


async def show_rates(request: Request) -> Response:
    """Show the currencies of the program's sales, and which of them lack a rate."""
    return await _page(request, await page_context.as_member(request))


async def import_rates(request: Request) -> Response:
    """Import the ECB's file; an error names the line. Raises Forbidden, OwnerRequired."""
    context = await page_context.as_owner(request)
    storage = storage_of(request)
    if not await storage.read(workspaces.owns_all, context.member.user_id):
        raise Forbidden("The rates are those of every workspace of this server: its operator imports them.")
    try:
        _, content = await uploads.read_upload(request, FILE, largest=LARGEST)
        rates = await asyncio.to_thread(_parse, content)
    except PayloadTooLarge:
        return await _page(request, context, Problems({FILE: TOO_LARGE}))
    except ValidationError as rejection:
        return await _page(request, context, Problems.of(rejection))
    for start in range(0, len(rates), ROWS_AT_ONCE):
        await storage.write(currencies.load, rates[start : start + ROWS_AT_ONCE])
    return notices.leave(redirect(f"{context.program_path}/settings/rates"), "rates-imported")


def _parse(content: bytes) -> list[tuple[date, str, str]]:
    try:
        return ecb.parse(content)
    except ValueError as wrong:
        raise ValidationError(str(wrong)) from None


async def _page(request: Request, context: PageContext, problems: Problems | None = None) -> Response:
    storage = storage_of(request)
    return templates.render(
        request,
        "rates.html",
        status=400 if problems else 200,
        context=context,
        rates=await storage.read(exchange_rates.list_rates, context.program.id),
        may_import=await storage.read(workspaces.owns_all, context.member.user_id),
        problems=problems or Problems(),
    )
