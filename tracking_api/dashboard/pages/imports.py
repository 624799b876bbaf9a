"""Imports of files: what another tool knows, with Undo for an hour, and the ECB's rates, which all workspaces share."""

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import valid_id
from storage.access import workspaces
from storage.management import import_report, imports
from storage.reports import program
from storage.rules import ecb, errors, tool_exports
from storage.tracking import currencies
from tracking_api.dashboard.pages import forms, notices, page_context
from tracking_api.dashboard.pages.buttons import FormOutcome, FormPage, is_confirmed

LARGEST = 1024 * 1024  # of all files; the program takes no other write for the 2 seconds that they need
LARGEST_RATES = 8 * 1024 * 1024  # four times the file of all days since 1999
ROWS_AT_ONCE = 2_000  # other writes go between two batches
TOO_LARGE = "The files have more than 1 MiB together. Import them with `svc admin import` on the server."


async def import_files(request: Request) -> Response:
    """Show what the files would add, import them once that is confirmed, or undo an import.

    Raises Forbidden, OwnerRequired, and NotFound, ValidationError for what cannot be undone.
    """
    context = await page_context.as_member(request, workspaces.MANAGERS)
    try:
        form = await forms.read_form(request, largest_file=2 * LARGEST)
    except errors.PayloadTooLarge:
        return await _import_page(context, FormOutcome({"": TOO_LARGE}))
    if undone := form.text("undo"):
        await context.write(imports.undo, valid_id(undone))
        return notices.redirect(request.url.path, "import-undone")
    texts = [*zip(form.each("name"), form.each("content"), strict=False)]  # of the form that asked
    texts += [(name, content.decode("utf-8-sig", "replace")) for name, content in form.files if name]
    outcome = FormOutcome(typed={name: form.text(name) for name in ("tool", "amounts", "on_conflict")})
    try:
        files = await asyncio.to_thread(_read, form, texts)
        decided = import_report.OnConflict(form.text("on_conflict") or import_report.OnConflict.STOP)
        report = await context.write(imports.run, files, on_conflict=decided, dry_run=not is_confirmed(form))
    except (errors.ValidationError, ValueError) as wrong:
        return await _import_page(context, outcome._replace(problems=forms.problems_of(wrong)))
    if report.import_id is not None:
        return notices.redirect(request.url.path, "imported", report.import_id)
    return await _import_page(context, outcome, report=report, files=files, texts=texts)


def _read(form: forms.Form, texts: list[tuple[str, str]]) -> list[tool_exports.ImportFile]:
    """Return what the files say. Raises ValueError."""
    if not texts or sum(len(text) for _, text in texts) > LARGEST:
        raise ValueError(TOO_LARGE if texts else "Choose one file at least.")
    tool = tool_exports.ImportTool(form.text("tool"))
    amounts = form.text("amounts")
    unit = tool_exports.AmountUnit(amounts) if amounts else None
    return [tool_exports.read(name, text.splitlines(keepends=True), tool, unit) for name, text in texts]


async def _import_page(context: page_context.PageContext, outcome: FormOutcome, **shown: Any) -> Response:
    recent = await context.read(imports.list_recent, at=context.at)
    return outcome.page(context, "import.html", **{"report": None, **shown}, recent=recent)


async def import_rates(request: Request) -> Response:
    """Import the ECB's file; an error names the line. Raises Forbidden, OwnerRequired."""
    context = await page_context.as_member(request, workspaces.OWNERS)
    if not await _may_import(context):
        raise errors.Forbidden("The rates are those of every workspace of this server: its operator imports them.")
    try:
        form = await forms.read_form(request, largest_file=LARGEST_RATES)
        rates = await asyncio.to_thread(ecb.parse, form.file)
    except (ValueError, errors.PayloadTooLarge) as wrong:
        return await _rates_page(context, FormOutcome(forms.problems_of(wrong)))
    for start in range(0, len(rates), ROWS_AT_ONCE):
        await context.storage.write(currencies.load, rates[start : start + ROWS_AT_ONCE])
    return notices.redirect(f"{context.program_path}/settings/rates", "rates-imported")


async def _rates_page(context: page_context.PageContext, outcome: FormOutcome) -> Response:
    rates = await context.read(program.list_rates)
    return outcome.page(context, "rates.html", rates=rates, may_import=await _may_import(context))


async def _may_import(context: page_context.PageContext) -> bool:
    return await context.storage.read(workspaces.owns_all, context.visitor.user_id)


IMPORT, RATES = FormPage(_import_page, {}), FormPage(_rates_page, {})
