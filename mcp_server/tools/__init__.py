"""All tools, in the order of tools/list."""

from mcp_server.tools import backtests, diagnosis, history, partners, payouts, programs, reports
from mcp_server.tools.tool import Tool

ALL: tuple[Tool, ...] = (
    programs.list_programs,
    programs.get_program,
    diagnosis.get_readiness,
    diagnosis.check_identifier_health,
    reports.get_performance,
    reports.get_breakdown,
    partners.list_partners,
    history.list_customers,
    partners.get_partner,
    history.get_customer,
    history.list_events,
    history.list_payment_events,
    partners.list_commissions,
    partners.list_flags,
    payouts.list_payouts,
    payouts.get_payout,
    programs.list_changes,
    backtests.backtest_terms,
    diagnosis.explain_attribution,
    diagnosis.list_refused_calls,
    programs.get_integration_guide,
)
