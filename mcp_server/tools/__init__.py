"""All tools, in the order of `descriptions.toml`, which is that of tools/list."""

from mcp_server.tools import backtests, diagnosis, history, partners, programs, reports
from mcp_server.tools.tool import DESCRIPTIONS, Tool

_MODULES = (backtests, diagnosis, history, partners, programs, reports)
_TOOLS = {each.name: each for module in _MODULES for each in vars(module).values() if isinstance(each, Tool)}
ALL: tuple[Tool, ...] = tuple(sorted(_TOOLS.values(), key=lambda tool: [*DESCRIPTIONS].index(tool.name)))
