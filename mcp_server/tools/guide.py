"""get_integration_guide: how to connect a shop to one program, with that program's own id and address."""

import re
from enum import StrEnum

from pydantic import Field

from mcp_server.arguments import OfProgram
from mcp_server.results import LARGEST, Model, Result, weight
from mcp_server.tools.tool import Tool, ToolRequest
from presentation import guides
from storage.management import partners, program_settings
from storage.rules.scope import Scope

LARGEST_PART = LARGEST - 3_000


class Topic(StrEnum):
    """Which guide."""

    INTEGRATION = "integration"
    ERRORS = "errors"
    KEY_ROTATION = "key-rotation"
    METRICS = "metrics"
    SNIPPETS = "snippets"
    VERIFY = "verify"
    PAYMENTS = "payments"


class GuideQuery(OfProgram):
    """The guide and the part of it that are wanted."""

    topic: Topic = Field(default=Topic.INTEGRATION, strict=False)
    part: int = Field(default=1, ge=1, le=20)


class Settings(Model):
    """What the program decides about its integration."""

    currency: str
    lead_auth_policy: str
    cookie_window_days: int
    attribution_window_days: int


class Guide(Result):
    """A part of a guide in Markdown, and the program's settings that matter when following it."""

    text: str
    part: int
    parts: int
    base_url: str
    settings: Settings


def _guide(call: ToolRequest, arguments: GuideQuery) -> Guide:
    program = program_settings.get_program(call.connection, arguments.program_id)
    code = partners.newest_code(call.connection, program.id)
    filling = guides.filling(program, base_url=call.base_url, code=code)
    text = re.sub(r"(POST|GET) (?=/api/)", rf"\1 {call.base_url}", guides.filled(arguments.topic, filling))
    parts = _parts(text)
    number = min(arguments.part, len(parts))
    return Guide(
        **call.says(arguments),
        text=parts[number - 1],
        part=number,
        parts=len(parts),
        base_url=call.base_url,
        settings=Settings.model_validate(program.settings),
    )


def _parts(text: str) -> list[str]:
    """Divide a guide before its headings, into as few parts as fit an answer each."""
    parts = [""]
    for section in re.split(r"(?m)^(?=## )", text):
        if parts[-1] and weight(parts[-1] + section) > LARGEST_PART:
            parts.append("")
        parts[-1] += section
    return parts


GET_INTEGRATION_GUIDE = Tool(
    name="get_integration_guide",
    title="Get the integration guide",
    scope=Scope.PROGRAMS_READ,
    description=(
        "How to send clicks, leads, sales and refunds to this program, in Markdown with its id and address. topic: "
        "integration (default), snippets (by framework and language), verify (step by step), payments (Stripe), errors "
        "(every code), key-rotation, metrics (glossary). Long ones come in parts."
    ),
    arguments=GuideQuery,
    result=Guide,
    answer=_guide,
)
