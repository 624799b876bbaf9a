"""list_partners and list_customers: the partners, and the customers whom they sent."""

from datetime import date, datetime

from mcp_server.arguments import Cursor, Identifier, Limit, RowId, Timestamp, span_of
from mcp_server.results import BUDGET, Result, RowPage, fitting, page
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import ToolRequest, tool
from storage.engine.pagination import Paging
from storage.management import balances, partners, program_settings
from storage.management.partners import Partner
from storage.reading import customer_timelines
from storage.reading.customer_timelines import CustomerFilter, CustomerRecord
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
    open_flags: int | None = None


class BalanceRow(Result):
    """A balance in cents: pending is ready to approve, to_pay is approved less owed back."""

    pending_cents: int
    on_hold_cents: int
    approved_cents: int
    paid_cents: int
    owed_back_cents: int
    to_pay_cents: int
    next_hold_ends_at: datetime | None = None
    last_hold_ends_at: datetime | None = None


class PartnerWithBalanceRow(PartnerRow):
    """A partner with what they are owed."""

    balance: BalanceRow


class PartnerPage(RowPage[PartnerWithBalanceRow]):
    """Partners with their balances in cents of `currency`."""

    currency: str


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
    sales: int | None = None
    last_sale_at: datetime | None = None


class CustomerCountRow(Result):
    """One partner's customers that match, and the oldest of them."""

    partner_id: int
    partner_name: Untrusted
    customers: int
    first_clicked_at: datetime


class CustomerPage(RowPage[CustomerRow]):
    """Customers, newest first; with a status, the first page also counts those that match, by partner."""

    customers: int | None = None
    by_partner: list[CustomerCountRow] | None = None
    lead_commission_cents: int | None = None
    currency: str | None = None


@tool("Partners", Scope.PARTNERS_READ)
def list_partners(
    request: ToolRequest,
    *,
    program_id: int,
    limit: Limit = 25,
    cursor: Cursor | None = None,
    status: PartnerStatus | None = None,
) -> PartnerPage:
    """Partners (affiliates), newest first, with what each is owed: pending, on hold until when, approved, paid, owed
    back. Their links have ?aff=code.
    """
    stored = partners.list_partners(request.connection, program_id, Paging(limit, cursor), status=status)
    owed = balances.of_partners(request.connection, program_id, [each.id for each in stored.data], at=request.at)

    def row(partner: Partner) -> PartnerWithBalanceRow:
        about = {**partner._asdict(), "open_flags": partner.open_flags or None}
        return PartnerWithBalanceRow(**about, balance=BalanceRow.model_validate(owed[partner.id]))

    currency = program_settings.get_program(request.connection, program_id).settings.currency
    return PartnerPage(**dict(page(stored, row)), currency=currency)


@tool("Customers", Scope.CUSTOMERS_READ)
def list_customers(
    request: ToolRequest,
    *,
    program_id: int,
    limit: Limit = 25,
    cursor: Cursor | None = None,
    status: CustomerStatus | None = None,
    partner_id: RowId | None = None,
    customer_key: Identifier | None = None,
    last_sale_before: Timestamp | None = None,
    date_from: Timestamp | None = None,
    date_to: Timestamp | None = None,
) -> CustomerPage:
    """Customers, newest first, with partner, sales and last_sale_at. status: provisional (lead not confirmed), lead,
    conversion (has paid); it adds counts by partner. last_sale_before: who bought and stopped. For one, use
    get_customer.
    """
    filters = CustomerFilter(
        status, partner_id, customer_key, span_of(last_sale_before, None).since, span_of(date_from, date_to)
    )
    stored = customer_timelines.list_customers(request.connection, program_id, Paging(limit, cursor), filters)
    if status is None or cursor is not None:
        return CustomerPage(**dict(page(stored, customer_row)))
    counts = customer_timelines.count_by_partner(request.connection, program_id, filters)
    settings = program_settings.get_program(request.connection, program_id).settings
    rows = [CustomerCountRow.model_validate(each) for each in counts]
    return CustomerPage(
        **dict(page(stored, customer_row, budget=BUDGET * 2 // 3)),
        customers=sum(each.customers for each in counts),
        by_partner=rows[: fitting(rows, BUDGET // 3)],
        lead_commission_cents=settings.lead_commission_cents,
        currency=settings.currency,
    )


def customer_row(customer: CustomerRecord) -> CustomerRow:
    """Return a customer with the days of their lead and first purchase."""
    signup_at, bought_at = customer.signup_at, customer.first_purchase_at
    return CustomerRow(
        **customer._asdict() | {"sales": customer.sales or None},
        signup_date=signup_at.date() if signup_at else None,
        first_purchase_date=bought_at.date() if bought_at else None,
    )
