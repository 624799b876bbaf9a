"""Every tool there is, in the order in which a model meets them; the contract names them and their scopes."""

from mcp_server.tools.attribution import EXPLAIN_ATTRIBUTION, LIST_REFUSED_CALLS
from mcp_server.tools.commissions import LIST_COMMISSIONS
from mcp_server.tools.events import LIST_EVENTS
from mcp_server.tools.guide import GET_INTEGRATION_GUIDE
from mcp_server.tools.integration import CHECK_IDENTIFIER_HEALTH, GET_READINESS
from mcp_server.tools.people import LIST_CUSTOMERS, LIST_PARTNERS
from mcp_server.tools.performance import GET_PERFORMANCE
from mcp_server.tools.programs import GET_PROGRAM, LIST_PROGRAMS
from mcp_server.tools.tool import Tool

ALL: tuple[Tool, ...] = (
    LIST_PROGRAMS,
    GET_PROGRAM,
    GET_READINESS,
    GET_PERFORMANCE,
    LIST_PARTNERS,
    LIST_EVENTS,
    LIST_CUSTOMERS,
    LIST_COMMISSIONS,
    EXPLAIN_ATTRIBUTION,
    LIST_REFUSED_CALLS,
    CHECK_IDENTIFIER_HEALTH,
    GET_INTEGRATION_GUIDE,
)
BY_NAME = {tool.name: tool for tool in ALL}
