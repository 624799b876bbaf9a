"""GET /programs: the programs that the caller may read."""

from enum import StrEnum

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.resources import ProgramView
from presentation.view import PageView, page
from storage.management import program_settings
from storage.rules.errors import ValidationError
from web.response import ModelResponse


class ProgramKind(StrEnum):
    """A live program, or the sandbox of one."""

    LIVE = "live"
    SANDBOX = "sandbox"


@operation("The programs that you may read", ValidationError, query={"kind": "live or sandbox; both by default."})
async def list_programs(call: ApiRequest) -> ModelResponse[PageView[ProgramView]]:
    """List the programs that the caller may read; sandboxes name their live program in `sandbox_of`."""
    kind = queries.choice(call.request, "kind", ProgramKind)
    stored = await call.storage.read(
        program_settings.list_programs,
        workspace_ids=call.workspace_ids,
        program_ids=call.program_ids,
        are_sandboxes=None if kind is None else kind == ProgramKind.SANDBOX,
        paging=queries.paging(call.request),
    )
    return page(stored, ProgramView)
