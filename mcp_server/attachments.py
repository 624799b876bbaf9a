"""Prompts and resources, which clients can attach: work plans for recurring jobs, and the guides of /docs."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import mcp_types as types
from mcp import MCPError

from mcp_server.calls import Context, caller_of
from mcp_server.results import clean
from mcp_server.tools.tool import Key
from presentation import guides
from presentation.guides import Filling
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.find import find
from storage.lists.programs import PROGRAMS

PROGRAM = types.PromptArgument(name="program_id", description="The program's id, from list_programs.", required=True)
SALE = types.PromptArgument(name="transaction_id", description="The sale's transaction_id.", required=False)
CUSTOMER = types.PromptArgument(name="customer_key", description="Or the customer's key.", required=False)


PLANS = {  # what a prompt is for, and its text, in which {program_id} and {subject} are replaced by the arguments
    "Review my program": (
        "The program's results, its problems, and what to do next.",
        """Review affiliate program {program_id}. Call get_program, get_readiness, get_performance with period 30d
        and breakdown week, and list_refused_calls. Tell me in this order: whether sales are credited and
        what blocks them; how clicks, leads, conversions and revenue changed from the previous period; the most
        frequent rejections and who must fix them; at most five next actions, the most valuable first. Give
        numbers with their currency and dates. Say which of these your key could not read.""",
    ),
    "Why was this sale not credited?": (
        "Why a sale earned a commission or none, and the smallest fix.",
        """Find out why {subject} of affiliate program {program_id} was credited or not. Call explain_attribution
        with exactly one identifier. Explain the verdict in plain words, go through the trace step by step, and
        give the smallest change that would have credited it. If the verdict is customer_not_found, call
        check_identifier_health too and say whether other sales have the same problem.""",
    ),
    "Weekly review": (
        "What changed this week in all programs, and what needs attention.",
        """Write this week's review of affiliate program {program_id}. Call get_performance with period 7d and
        top_partners 10, list_changes, list_refused_calls and list_flags with state open. Say what rose or fell
        against the week before and which partners explain it, what people changed, which rejected calls still
        happen and the money at stake, and at most five actions. Give numbers with currency and dates.""",
    ),
    "Month close": (
        "What to pay, to whom and why, and what was taken back.",
        """Close last month for affiliate program {program_id}. Call list_partners for the balances, get_performance
        with period last_month and top_partners 20, list_payment_events for disputes, and list_flags with state
        open. Make a table of each partner: to_pay_cents, ready, on hold until when, flagged, owed back, and refunds
        of the month. Name the commissions that a flag holds. You cannot pay or approve; people do.""",
    ),
    "Integration doctor": (
        "Why events are missing or rejected, and the fix for each cause.",
        """Diagnose the integration of affiliate program {program_id}. Call get_readiness, list_refused_calls,
        check_identifier_health and list_payment_events. For each cause say since when, whether it still happens,
        what money is at stake and what to change, with the passage of get_integration_guide that shows it.""",
    ),
    "Fraud review": (
        "Open signs of fraud with evidence for and against.",
        """Review signs of fraud in affiliate program {program_id}. Call list_flags with state open, get_performance
        with period 30d and top_partners 20, and get_partner for the partner with the most money at stake. For
        each flag give the evidence, what speaks against it, and the commission it holds. Recommend dismiss or
        confirm; a person decides.""",
    ),
    "Prepare for key rotation": (
        "A plan to replace the program key without losing a sale.",
        """Prepare the replacement of the program key of affiliate program {program_id}. Call get_program for
        program_key_state and program_key_rotate_by, list_refused_calls for calls with an old key, and
        get_integration_guide with topic key-rotation. Write a checklist for the owner: what to prepare, when to
        generate the key (the old one stops at once), what to deploy, how to check it, and how to send the calls
        again that were rejected in between. You cannot generate the key; only an owner can.""",
    ),
}


def _prompt(title: str, description: str, text: str) -> types.Prompt:
    """Return a prompt; one with a {subject} also takes a sale or a customer."""
    name = title.lower().rstrip("?").replace(" ", "-")
    of_sale = [SALE, CUSTOMER] if "{subject}" in text else []
    return types.Prompt(name=name, title=title, description=description, arguments=[PROGRAM, *of_sale])


PROMPTS = [(_prompt(title, *plan), " ".join(plan[1].split())) for title, plan in PLANS.items()]


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
    return {f"guide://{name}": guides.filled(name, Filling(base_url, 1)) for name in guides.NAMES}
