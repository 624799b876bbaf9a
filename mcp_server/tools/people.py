"""list_partners and list_customers: the partners, and the customers whom they sent."""

from mcp_server.results import BUDGET, JsonRow, fitting
from mcp_server.sanitize import json_of, row_of
from mcp_server.tools.lists import Asked, list_tool
from storage.lists import timelines
from storage.lists.balances import PartnerBalance
from storage.lists.customers import CUSTOMERS, ListedCustomer
from storage.lists.partners import FIGURES, PARTNERS, Partner
from storage.lists.programs import read_program
from storage.rules.scope import Scope
from storage.rules.untrusted import UntrustedValues

PARTNER_NOT_SHOWN = {"email", "notes", "link", "to_pay_cents", "program_id", "balance"}
CUSTOMER_NOT_SHOWN = {
    *("created_at", "email_masked", "partner_code", "program_id"),
    *("signup_at", "first_purchase_at"),  # their days are shown
}


@list_tool("Partners", Scope.PARTNERS_READ, PARTNERS)
def list_partners(asked: Asked) -> JsonRow:
    """Partners (affiliates), newest first, with what each brought in the dates (the last 30 days by default) and is
    owed: pending, on hold until when, approved, paid, owed back. Their links have ?aff=code.
    """
    return asked.page(row=_listed_partner)


@list_tool("Customers", Scope.CUSTOMERS_READ, CUSTOMERS, beside={"by_partner": list[UntrustedValues] | None})
def list_customers(asked: Asked) -> JsonRow:
    """Customers, newest first, with partner, sales and last_sale_at. status: provisional (lead not confirmed), lead,
    conversion (has paid); it adds counts by partner. last_sale_before: who bought and stopped. For one, use
    get_customer.
    """
    if asked.arguments["status"] is None or asked.query.cursor is not None:
        return asked.page(row=customer_row)
    connection = asked.request.connection
    counts = timelines.count_by_partner(connection, asked.scope, asked.query)
    rows = json_of(counts)
    return asked.page(
        row=customer_row,
        budget=BUDGET * 2 // 3,
        customers=sum(each.customers for each in counts),
        by_partner=rows[: fitting(rows, BUDGET // 3)],
        lead_commission_cents=read_program(connection, asked.scope.program_id).settings.lead_commission_cents,
    )


def partner_row(partner: Partner) -> JsonRow:
    """Return a partner; their links have `code` as ?aff=."""
    return row_of(partner, leave_out={*PARTNER_NOT_SHOWN, *FIGURES})


def _listed_partner(partner: Partner) -> JsonRow:
    """Return a partner with what they brought in the dates, and what they are owed."""
    return row_of(partner, leave_out=PARTNER_NOT_SHOWN) | {"balance": balance_row(partner.balance)}


def balance_row(balance: PartnerBalance) -> JsonRow:
    """Return a balance in cents: pending is ready to approve, to_pay is approved less owed back."""
    return row_of(balance) | {"to_pay_cents": balance.to_pay_cents}


def customer_row(customer: ListedCustomer) -> JsonRow:
    """Return a customer, and the partner who sent them."""
    days = {"signup_date": customer.signup_date, "first_purchase_date": customer.first_purchase_date}
    shown = row_of(customer, leave_out=CUSTOMER_NOT_SHOWN)
    return shown | {name: json_of(day) for name, day in days.items() if day is not None}
