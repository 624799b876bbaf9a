"""list_partners and list_customers: who sends customers, and whom they sent."""

from datetime import date, datetime

from pydantic import Field

from mcp_server.arguments import Identifier, OfProgram, Paged, RowId
from mcp_server.results import Listed, Model, page
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import Tool, ToolRequest
from storage.management import partners
from storage.reading import customer_timelines
from storage.reading.customer_timelines import CustomerRecord
from storage.rules.attribution import PartnerStatus
from storage.rules.scope import Scope
from storage.rules.settlement import CustomerStatus


class PartnersQuery(Paged, OfProgram):
    """Which partners are wanted."""

    status: PartnerStatus | None = Field(default=None, strict=False)


class PartnerRow(Model):
    """A partner; `code` is what their links carry as ?aff=."""

    id: int
    name: Untrusted
    code: Untrusted
    status: str
    created_at: datetime


class Partners(Listed):
    """A page of partners."""

    data: list[PartnerRow]


class CustomersQuery(Paged, OfProgram):
    """Which customers are wanted."""

    status: CustomerStatus | None = Field(default=None, strict=False)
    partner_id: RowId | None = None
    customer_key: Identifier | None = None


class CustomerRow(Model):
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


class Customers(Listed):
    """A page of customers."""

    data: list[CustomerRow]


def _partners(call: ToolRequest, arguments: PartnersQuery) -> Partners:
    found = partners.list_partners(call.connection, arguments.program_id, arguments.paging, status=arguments.status)
    return Partners(**call.says(arguments), **page(found, PartnerRow.model_validate))


def _customers(call: ToolRequest, arguments: CustomersQuery) -> Customers:
    found = customer_timelines.list_customers(
        call.connection,
        arguments.program_id,
        arguments.paging,
        status=arguments.status,
        partner_id=arguments.partner_id,
        customer_key=arguments.customer_key,
    )
    return Customers(**call.says(arguments), **page(found, _row))


def _row(customer: CustomerRecord) -> CustomerRow:
    signup_at, bought_at = customer.signup_at, customer.first_purchase_at
    return CustomerRow(
        **customer._asdict(),
        signup_date=signup_at.date() if signup_at else None,
        first_purchase_date=bought_at.date() if bought_at else None,
    )


LIST_PARTNERS = Tool(
    name="list_partners",
    title="List partners",
    scope=Scope.PARTNERS_READ,
    description=(
        "Partners (affiliates) of a program, newest first. code is what their links carry (?aff=code). "
        "For who brings most, use get_performance with top_partners."
    ),
    arguments=PartnersQuery,
    result=Partners,
    answer=_partners,
)
LIST_CUSTOMERS = Tool(
    name="list_customers",
    title="List customers",
    scope=Scope.CUSTOMERS_READ,
    description=(
        "People partners sent, newest first, with their partner. status: provisional (lead not yet confirmed), "
        "lead, conversion (has paid). customer_key is the shop's own id of the user; use it to find one person."
    ),
    arguments=CustomersQuery,
    result=Customers,
    answer=_customers,
)
