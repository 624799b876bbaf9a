"""Prompts and resources, which clients can attach: work plans for recurring jobs, and the guides of /docs."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import MCPError

from mcp_server.calls import Context, caller_of
from mcp_server.results import clean
from mcp_server.tools.tool import Key
from presentation import guides
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.find import find
from storage.lists.programs import PROGRAMS

PROGRAM = types.PromptArgument(name="program_id", description="The program's id, from list_programs.", required=True)
SALE = types.PromptArgument(name="transaction_id", description="The sale's transaction_id.", required=False)
CUSTOMER = types.PromptArgument(name="customer_key", description="Or the customer's key.", required=False)
_PLAN = re.compile(r"^## (.+)\n\n(.+)\n\n((?:.+\n)+)", re.MULTILINE)
PLANS = _PLAN.findall(Path(__file__).with_name("prompts.md").read_text(encoding="utf-8"))


def _prompt(title: str, description: str, text: str) -> tuple[types.Prompt, str]:
    """Return a prompt with its text on one line; one with a {subject} also takes a sale or a customer."""
    name = title.lower().rstrip("?").replace(" ", "-")
    of_sale = [SALE, CUSTOMER] if "{subject}" in text else []
    prompt = types.Prompt(name=name, title=title, description=description, arguments=[PROGRAM, *of_sale])
    return prompt, " ".join(text.split())


PROMPTS = [_prompt(*plan) for plan in PLANS]


async def list_prompts(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    """List the prompts."""
    return types.ListPromptsResult(prompts=[prompt for prompt, _ in PROMPTS])


async def get_prompt(_context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    """Return a prompt with its arguments filled in. Raises MCPError (-32602) if the name or an argument is wrong."""
    prompt, text = next((each for each in PROMPTS if each[0].name == params.name), (None, ""))
    if prompt is None:
        raise MCPError(types.INVALID_PARAMS, "Unknown prompt. Call prompts/list for the prompts.")
    sent = params.arguments or {}
    accepted = [argument.name for argument in prompt.arguments or ()]
    if "program_id" not in sent or not set(sent) <= set(accepted):
        raise MCPError(types.INVALID_PARAMS, f"This prompt accepts {', '.join(accepted)}. program_id is required.")
    named = [f"{name} {clean(sent[name])!r}" for name in ("transaction_id", "customer_key") if sent.get(name)]
    subject = f"the sale with {' or '.join(named)}" if named else "a sale I will name (ask me for its transaction_id)"
    text = text.format(program_id=clean(sent["program_id"]), subject=subject)
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=prompt.description, messages=[message])


async def complete(context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Complete program_id with the ids that the key can read; return nothing for other arguments."""
    caller = caller_of(context)

    def read(connection: Any, key: Key) -> list[str]:
        scope = ListScope(0, caller.at, workspace_ids=[key.workspace_id], program_ids=key.program_ids)
        return [str(program.id) for program in find(connection, PROGRAMS, scope, ListQuery(limit=100)).data]

    ids = await caller.read(read) if params.argument.name == PROGRAM.name else []
    fitting = [program_id for program_id in ids if program_id.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=fitting, total=len(fitting), has_more=False))


MARKDOWN = "text/markdown"


async def list_templates(_: Context, __: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
    """List no templates: get_integration_guide has the guides of a program."""
    return types.ListResourceTemplatesResult(resource_templates=[])


async def list_resources(base_url: str) -> types.ListResourcesResult:
    """List the guides of the service at this URL."""
    resources = [
        types.Resource(
            uri=uri,
            name=name,
            title=guides.titles()[name],
            description=guides.about(name),
            mime_type=MARKDOWN,
            size=len(text.encode()),
        )
        for name, (uri, text) in zip(guides.NAMES, _texts(base_url).items(), strict=True)
    ]
    return types.ListResourcesResult(resources=resources)


async def read_resource(base_url: str, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    """Return a guide. Raises MCPError (-32602) for a resource that is not listed."""
    uri, texts = str(params.uri), _texts(base_url)
    if uri not in texts:
        message = "Unknown resource. Call resources/list for the resources."
        raise MCPError(types.INVALID_PARAMS, message, {"uri": clean(uri)})
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=texts[uri])])


@cache
def _texts(base_url: str) -> Mapping[str, str]:
    """Return the guides by URI, filled when a client first asks: that takes 0.03 s, which no start has to spend."""
    return {f"guide://{name}": guides.filled(name, guides.Filling(base_url, 1)) for name in guides.NAMES}
