"""All tools, the functions under @tool in these modules, in the order of tools/list."""

from mcp_server.tools import (
    attribution,
    breakdown,
    changes,
    commissions,
    customer,
    events,
    guide,
    integration,
    partner,
    payments,
    people,
    performance,
    programs,
)
from mcp_server.tools.tool import Tool

MODULES = (
    programs,
    integration,
    performance,
    breakdown,
    people,
    partner,
    customer,
    events,
    payments,
    commissions,
    changes,
    attribution,
    guide,
)
ALL: tuple[Tool, ...] = tuple(each for module in MODULES for each in vars(module).values() if isinstance(each, Tool))
BY_NAME = {tool.name: tool for tool in ALL}
