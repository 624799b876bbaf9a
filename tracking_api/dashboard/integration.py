"""GET /api/programs/:id/integration: the guide that `svc init` writes."""

from presentation import agents_file, queries
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.view import View
from storage.lists.partners import newest_code
from storage.lists.programs import read_program
from storage.payments import accounts
from storage.rules.errors import ValidationError
from web.response import ModelResponse


class IntegrationView(View):
    """The guide that `svc init` writes: Markdown for coding agents, without a secret."""

    program_id: int
    base_url: str
    agents_md: str
    payment_account: str | None


@operation("What `svc init` writes", ValidationError, query={"framework": "Its snippets come first."})
async def get_integration(call: ApiRequest) -> ModelResponse[IntegrationView]:
    """Return the program's AGENTS.md; it has no secret. `?framework=` puts that framework's snippets first."""
    base_url = call.request.app.state.settings.base_url
    program = await call.read(read_program)
    code, framework = await call.read(newest_code), queries.text(call.request.query_params, "framework")
    markdown = agents_file.written(program, base_url=base_url, code=code, framework=framework)
    account = await call.read(accounts.find_account_id)
    return ModelResponse(
        IntegrationView(program_id=program.id, base_url=base_url, agents_md=markdown, payment_account=account)
    )
