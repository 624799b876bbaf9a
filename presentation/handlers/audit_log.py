"""GET /programs/:id/audit-log: who changed what, with the old and the new value."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.resources import AuditEntryView
from presentation.view import PageView, page
from storage.engine import audit
from web.response import ModelResponse


@operation("Who changed what")
async def list_audit_log(call: ApiRequest) -> ModelResponse[PageView[AuditEntryView]]:
    """List the program's audit log."""
    return page(await call.read(audit.list_entries, queries.paging(call.request)), AuditEntryView)
