"""All tools, in the order of tools/list."""

from mcp_server.tools import customers, diagnosis, events, guide, partners, programs, reports
from mcp_server.tools.tool import Tool

ALL: tuple[Tool, ...] = (
    programs.list_programs,
    programs.get_program,
    diagnosis.get_readiness,
    diagnosis.check_identifier_health,
    reports.get_performance,
    reports.get_breakdown,
    partners.list_partners,
    customers.list_customers,
    partners.get_partner,
    customers.get_customer,
    events.list_events,
    events.list_payment_events,
    partners.list_commissions,
    partners.list_flags,
    programs.list_changes,
    diagnosis.explain_attribution,
    diagnosis.list_refused_calls,
    guide.get_integration_guide,
)
BY_NAME = {tool.name: tool for tool in ALL}
