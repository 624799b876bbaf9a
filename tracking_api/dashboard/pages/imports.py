"""Import from another tool: its files, what they would add, the decision on conflicts, and Undo for an hour."""

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from storage.management import import_undo, imports
from storage.management.import_report import OnConflict
from storage.rules import tool_exports
from storage.rules.errors import PayloadTooLarge, ValidationError
from storage.rules.tool_exports import AmountUnit, ImportFile, ImportTool
from tracking_api.dashboard.pages import forms, notices, page_context
from tracking_api.dashboard.pages.buttons import FormOutcome, is_confirmed
from tracking_api.dashboard.pages.forms import Form, Problems
from tracking_api.dashboard.pages.page_context import PageContext

LARGEST = 1024 * 1024  # of all files; the program takes no other write for the 2 seconds that they need
TOO_LARGE = "The files have more than 1 MiB together. Import them with `svc admin import` on the server."


async def show_import(request: Request) -> Response:
    """Show the form, and the imports that can be undone. Raises Forbidden."""
    return await _page(await page_context.as_member(request), FormOutcome())


async def import_files(request: Request) -> Response:
    """Show what the files would add; import them once that is confirmed. Raises Forbidden, OwnerRequired."""
    context = await page_context.as_manager(request)
    try:
        form = await forms.read_form(request, largest_file=2 * LARGEST)
    except PayloadTooLarge:
        return await _page(context, FormOutcome(Problems({"": TOO_LARGE})))
    texts = [*zip(form.each("name"), form.each("content"), strict=False), *_uploaded(form)]
    outcome = FormOutcome(typed={name: form.text(name) for name in ("tool", "amounts", "on_conflict")})
    try:
        files = await asyncio.to_thread(_read, form, texts)
        decided = OnConflict(form.text("on_conflict") or OnConflict.STOP)
        report = await context.write(imports.run, files, on_conflict=decided, dry_run=not is_confirmed(form))
    except ValidationError as rejection:
        return await _page(context, outcome._replace(problems=Problems.of(rejection)))
    except ValueError as wrong:
        return await _page(context, outcome._replace(problems=Problems({"": str(wrong)})))
    if report.import_id is not None:
        return notices.redirect(request.url.path, "imported", report.import_id)
    return await _page(context, outcome, report=report, files=files, texts=texts)


async def undo_import(request: Request) -> Response:
    """Undo an import. Raises Forbidden, OwnerRequired, NotFound, ValidationError."""
    context = await page_context.as_manager(request)
    form = await forms.read_form(request)
    import_id = form.text("import_id")
    await context.write(import_undo.undo, int(import_id) if import_id.isdecimal() else 0)
    return notices.redirect(f"{context.program_path}/import", "import-undone")


def _uploaded(form: Form) -> list[tuple[str, str]]:
    return [(name, content.decode("utf-8-sig", "replace")) for name, content in form.files if name]


def _read(form: Form, texts: Sequence[tuple[str, str]]) -> list[ImportFile]:
    """Return what the files say. Raises ValueError."""
    if not texts or sum(len(text) for _, text in texts) > LARGEST:
        raise ValueError(TOO_LARGE if texts else "Choose one file at least.")
    tool, amounts = ImportTool(form.text("tool")), form.text("amounts")
    unit = AmountUnit(amounts) if amounts else None
    return [tool_exports.read(name, text.splitlines(keepends=True), tool, unit) for name, text in texts]


async def _page(context: PageContext, outcome: FormOutcome, **shown: Any) -> Response:
    recent = await context.read(import_undo.list_recent, at=context.at)
    return outcome.page(context, "import.html", **{"report": None, **shown}, recent=recent)
