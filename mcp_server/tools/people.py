"""list_partners and list_customers: the partners, and the customers whom they sent."""

from datetime import date, datetime

from mcp_server.results import BUDGET, Result, RowPage, fields_of, fitting
from mcp_server.tools.lists import Asked, list_tool
from storage.lists import timelines
from storage.lists.customers import CUSTOMERS, ListedCustomer
from storage.lists.partners import FIGURES, PARTNERS, Partner
from storage.lists.programs import read_program
from storage.lists.timelines import CustomerCount
from storage.rules.scope import Scope

NOT_SHOWN = {"email", "notes", "link", "to_pay_cents", "program_id", "balance"}


@fields_of(Partner, leave_out={*NOT_SHOWN, *FIGURES})
class PartnerRow(Result):
    """A partner; their links have `code` as ?aff=."""


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


@fields_of(Partner, leave_out=NOT_SHOWN)
class ListedPartnerRow(PartnerRow):
    """A partner with what they brought in the dates (30 days by default) and what they are owed."""

    balance: BalanceRow


@fields_of(
    ListedCustomer,
    leave_out={"created_at", "email_masked", "partner_code", "signup_at", "first_purchase_at", "program_id"},
)
class CustomerRow(Result):
    """A customer, and the partner who sent them."""

    signup_date: date | None = None
    first_purchase_date: date | None = None


@fields_of(CustomerCount)
class CustomerCountRow(Result):
    """One partner's customers that match, and the oldest of them."""


class CustomerPage(RowPage[CustomerRow]):
    """Customers, newest first; with a status, the first page also counts those that match, by partner."""

    customers: int | None = None
    by_partner: list[CustomerCountRow] | None = None
    lead_commission_cents: int | None = None


@list_tool("Partners", Scope.PARTNERS_READ, PARTNERS)
def list_partners(asked: Asked) -> RowPage[ListedPartnerRow]:
    """Partners (affiliates), newest first, with what each brought in the dates (the last 30 days by default) and is
    owed: pending, on hold until when, approved, paid, owed back. Their links have ?aff=code.
    """
    return asked.page(ListedPartnerRow)


@list_tool("Customers", Scope.CUSTOMERS_READ, CUSTOMERS)
def list_customers(asked: Asked) -> CustomerPage:
    """Customers, newest first, with partner, sales and last_sale_at. status: provisional (lead not confirmed), lead,
    conversion (has paid); it adds counts by partner. last_sale_before: who bought and stopped. For one, use
    get_customer.
    """
    if asked.arguments["status"] is None or asked.query.cursor is not None:
        return CustomerPage(**dict(asked.page(CustomerRow)))
    connection = asked.request.connection
    counts = timelines.count_by_partner(connection, asked.scope, asked.query)
    rows = [CustomerCountRow.model_validate(each) for each in counts]
    return CustomerPage(
        **dict(asked.page(CustomerRow, budget=BUDGET * 2 // 3)),
        customers=sum(each.customers for each in counts),
        by_partner=rows[: fitting(rows, BUDGET // 3)],
        lead_commission_cents=read_program(connection, asked.scope.program_id).settings.lead_commission_cents,
    )
