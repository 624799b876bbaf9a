"""What an agent key may do: one scope for each resource and action."""

from enum import StrEnum


class Scope(StrEnum):
    """A permission of an agent key, as `resource:action`."""

    PROGRAMS_READ = "programs:read"
    PROGRAMS_WRITE = "programs:write"
    PARTNERS_READ = "partners:read"
    PARTNERS_WRITE = "partners:write"
    PERFORMANCE_READ = "performance:read"
    EVENTS_READ = "events:read"
    CUSTOMERS_READ = "customers:read"
    COMMISSIONS_READ = "commissions:read"
    COMMISSIONS_WRITE = "commissions:write"
    COMMISSIONS_PAY = "commissions:pay"
    PAYOUTS_READ = "payouts:read"
    PAYOUTS_WRITE = "payouts:write"
    EVENTS_REPLAY = "events:replay"
    REFERRALS_ISSUE = "referrals:issue"


READING = tuple(scope for scope in Scope if scope.endswith(":read"))
