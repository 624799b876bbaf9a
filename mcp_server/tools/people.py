"""list_partners and list_customers: the partners, and the customers whom they sent."""

from datetime import date, datetime

from mcp_server.arguments import Cursor, Identifier, Limit, RowId
from mcp_server.results import Result, RowPage, page
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import ToolRequest, tool
from storage.engine.pagination import Paging
from storage.management import partners
from storage.reading import customer_timelines
from storage.reading.customer_timelines import CustomerRecord
from storage.rules.attribution import PartnerStatus
from storage.rules.scope import Scope
from storage.rules.settlement import CustomerStatus


class PartnerRow(Result):
    """A partner; their links have `code` as ?aff=."""

    id: int
    name: Untrusted
    code: Untrusted
    status: str
    created_at: datetime


class CustomerRow(Result):
    """A customer, and the partner who sent them."""

    id: int
    customer_key: Untrusted | None = None
    click_id: str
    status: str
    settlement: str
    partner_id: int
    partner_name: Untrusted
    clicked_at: datetime
    signup_date: date | None = None
    first_purchase_date: date | None = None


@tool("List partners", Scope.PARTNERS_READ)
def list_partners(
    request: ToolRequest,
    *,
    program_id: int,
    limit: Limit = 25,
    cursor: Cursor | None = None,
    status: PartnerStatus | None = None,
) -> RowPage[PartnerRow]:
    """Partners (affiliates) of a program, newest first. Their links have ?aff=code.
    For the best partners, use get_performance with top_partners.
    """
    stored = partners.list_partners(request.connection, program_id, Paging(limit, cursor), status=status)
    return page(stored, PartnerRow.model_validate)


@tool("List customers", Scope.CUSTOMERS_READ)
def list_customers(
    request: ToolRequest,
    *,
    program_id: int,
    limit: Limit = 25,
    cursor: Cursor | None = None,
    status: CustomerStatus | None = None,
    partner_id: RowId | None = None,
    customer_key: Identifier | None = None,
) -> RowPage[CustomerRow]:
    """Customers of a program, newest first, with their partner. status: provisional (lead not yet confirmed),
    lead, conversion (has paid). customer_key is the shop's own id of the user; use it to find one customer.
    """
    customers = customer_timelines.list_customers(
        request.connection,
        program_id,
        Paging(limit, cursor),
        status=status,
        partner_id=partner_id,
        customer_key=customer_key,
    )
    return page(customers, customer_row)


def customer_row(customer: CustomerRecord) -> CustomerRow:
    """Return a customer with the days of their lead and first purchase."""
    signup_at, bought_at = customer.signup_at, customer.first_purchase_at
    return CustomerRow(
        **customer._asdict(),
        signup_date=signup_at.date() if signup_at else None,
        first_purchase_date=bought_at.date() if bought_at else None,
    )
