"""GET /programs: the programs that the caller may read."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.resources import ProgramView
from presentation.view import PageView, page
from storage.management import program_settings
from web.response import ModelResponse


@operation("The programs that you may read")
async def list_programs(call: ApiRequest) -> ModelResponse[PageView[ProgramView]]:
    """List the programs that the caller may read."""
    stored = await call.storage.read(
        program_settings.list_programs,
        workspace_ids=call.workspace_ids,
        program_ids=call.program_ids,
        paging=queries.paging(call.request),
    )
    return page(stored, ProgramView)
