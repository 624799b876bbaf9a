"""Settings, Exchange rates: which rates the program lacks, and the form that takes the ECB's file.

All workspaces of the server convert at the same rates, so only a member who owns them all may import some.
"""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from storage.access import workspaces
from storage.reports import exchange_rates
from storage.rules import ecb
from storage.rules.errors import Forbidden, PayloadTooLarge
from storage.tracking import currencies
from tracking_api.dashboard.pages import forms, notices, page_context
from tracking_api.dashboard.pages.buttons import FormOutcome
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.page_context import PageContext

LARGEST = 8 * 1024 * 1024  # four times the file of all days since 1999
ROWS_AT_ONCE = 2_000  # other writes go between two batches


async def show_rates(request: Request) -> Response:
    """Show the currencies of the program's sales, and which of them lack a rate."""
    return await _page(await page_context.as_member(request), FormOutcome())


async def import_rates(request: Request) -> Response:
    """Import the ECB's file; an error names the line. Raises Forbidden, OwnerRequired."""
    context = await page_context.as_owner(request)
    if not await _may_import(context):
        raise Forbidden("The rates are those of every workspace of this server: its operator imports them.")
    try:
        form = await forms.read_form(request, largest_file=LARGEST)
        rates = await asyncio.to_thread(ecb.parse, form.file)
    except ValueError as wrong:
        return await _page(context, FormOutcome(Problems({"": str(wrong)})))
    except PayloadTooLarge as rejection:
        return await _page(context, FormOutcome(Problems.of(rejection)))
    for start in range(0, len(rates), ROWS_AT_ONCE):
        await context.storage.write(currencies.load, rates[start : start + ROWS_AT_ONCE])
    return notices.redirect(f"{context.program_path}/settings/rates", "rates-imported")


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    rates = await context.read(exchange_rates.list_rates)
    return outcome.page(context, "rates.html", rates=rates, may_import=await _may_import(context))


async def _may_import(context: PageContext) -> bool:
    return await context.storage.read(workspaces.owns_all, context.member.user_id)
