"""get_integration_guide: how to connect a shop to one program, with its id and the service's URL."""

import re
from typing import Annotated

from pydantic import Field

from mcp_server.results import LARGEST, JsonRow, weight
from mcp_server.tools.tool import ToolRequest, tool
from presentation import guides
from storage.lists.partners import newest_code
from storage.lists.programs import read_program
from storage.rules.scope import Scope

LARGEST_PART = LARGEST - 3_000
TOPICS = {"enum": [*guides.NAMES]}
GuideTopic = Annotated[str, Field(pattern=f"^({'|'.join(guides.NAMES)})$", json_schema_extra=TOPICS)]
SETTINGS = ("currency", "lead_auth_policy", "cookie_window_days", "attribution_window_days")


@tool("Get the integration guide", Scope.PROGRAMS_READ)
def get_integration_guide(
    request: ToolRequest,
    *,
    program_id: int,
    topic: GuideTopic = "integration",
    part: Annotated[int, Field(ge=1, le=20)] = 1,
) -> JsonRow:
    """How to send clicks, leads, sales and refunds to this program, in Markdown with its id. cases: consent, domains,
    guests; verify: step by step; payments: Stripe.
    """
    program = read_program(request.connection, program_id)
    code = newest_code(request.connection, program.id)
    filling = guides.filling(program, base_url=request.base_url, code=code)
    text = re.sub(r"(POST|GET) (?=/api/)", rf"\1 {request.base_url}", guides.filled(topic, filling))
    parts = _parts(text)
    number = min(part, len(parts))
    shown = {name: getattr(program.settings, name) for name in SETTINGS}
    about = {"part": number, "parts": len(parts), "base_url": request.base_url, "settings": shown}
    return {"text": parts[number - 1], **about}


def _parts(text: str) -> list[str]:
    """Divide a guide before its headings, into as few parts as fit a result each."""
    parts = [""]
    for section in re.split(r"(?m)^(?=## )", text):
        if parts[-1] and weight(parts[-1] + section) > LARGEST_PART:
            parts.append("")
        parts[-1] += section
    return parts
