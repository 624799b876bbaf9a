"""All tools, in the order of tools/list."""

from mcp_server.tools import (
    breakdown,
    changes,
    commissions,
    customers,
    diagnosis,
    events,
    guide,
    partners,
    payments,
    performance,
    programs,
)
from mcp_server.tools.tool import Tool

ALL: tuple[Tool, ...] = (
    programs.list_programs,
    programs.get_program,
    diagnosis.get_readiness,
    diagnosis.check_identifier_health,
    performance.get_performance,
    breakdown.get_breakdown,
    partners.list_partners,
    customers.list_customers,
    partners.get_partner,
    customers.get_customer,
    events.list_events,
    payments.list_payment_events,
    commissions.list_commissions,
    commissions.list_flags,
    changes.list_changes,
    diagnosis.explain_attribution,
    diagnosis.list_refused_calls,
    guide.get_integration_guide,
)
BY_NAME = {tool.name: tool for tool in ALL}
