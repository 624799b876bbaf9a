"""Clicks, customers, leads, sales and refunds; commissions, the ledger, exchange rates and daily totals.

The unique keys decide what is a duplicate. Every change of a balance is a signed entry of the ledger.
A customer is made from a click at the first lead or sale, and linked to that click's partner for good. On PostgreSQL
clicks are partitioned by month (storage/tracking/click_retention.py) and have no foreign key.
"""

from sqlalchemy import BigInteger, Boolean, Column, Date, Index, Integer, String, Text, UniqueConstraint

from storage.tables.columns import AssignedId, event_table, program_table, reference, table, timestamp_column, where

clicks = program_table(
    "clicks",
    Column("click_id", String(64), primary_key=True),
    Column("partner_id", BigInteger, nullable=False),
    timestamp_column("at"),
    Column("filtered", String(16)),
    Column("landing_url", Text, nullable=False),
    Column("page_url", Text),
    Column("page_title", Text),
    Column("referrer_url", Text),
    Column("visitor", Text),
    Column("referrer_host", String(253)),
    Column("ad_markers", String(128)),
    Column("address_hash", String(24)),
    Column("dimensions", Text),  # JSON, see storage/rules/click_details.py
    # of clicks from before `dimensions`: a new click adds nothing to this index
    Index("ix_clicks_unfilled", "program_id", "click_id", **where("dimensions IS NULL")),
    reference("partner_id", "partners.id").ddl_if("sqlite"),
)

click_retention = program_table("click_retention", timestamp_column("deleted_before"))

used_handovers = program_table(
    "used_handovers",
    Column("nonce", String(32), primary_key=True),
    timestamp_column("expires_at"),
)

customers = event_table(
    "customers",
    Column("partner_id", BigInteger, nullable=False),
    Column("click_id", String(64), nullable=False),
    timestamp_column("clicked_at"),
    Column("customer_key", String(255)),
    Column("known_as", String(255)),  # the customer_key of a sale that named the click, too; a lead alone saves one
    Column("confirmed", Boolean, nullable=False, server_default="0"),
    Column("email_hash", String(64)),
    Column("email_mask", String(255)),
    Column("mailbox_hash", String(64)),  # of the address without what mail providers ignore; NULL before version 0.4.0
    Column("status", String(16), nullable=False),
    Column("settlement", String(16), nullable=False),
    timestamp_column("signup_at", nullable=True),
    timestamp_column("first_purchase_at", nullable=True),
    Column("revision", Integer, nullable=False),
    timestamp_column("created_at"),
    UniqueConstraint("program_id", "click_id"),
    UniqueConstraint("program_id", "customer_key"),
    Index("ix_customers_status", "program_id", "status", "id"),
    Index("ix_customers_partner", "program_id", "partner_id"),
    Index("ix_customers_email", "program_id", "email_hash"),
    Index("ix_customers_mailbox", "program_id", "mailbox_hash"),
    # few are: a lead or sale of any other customer adds nothing to this index
    Index("ix_customers_known_as", "program_id", "known_as", unique=True, **where("known_as IS NOT NULL")),
    reference("partner_id", "partners.id"),
)

leads = event_table(
    "leads",
    Column("customer_id", BigInteger, nullable=False),
    Column("partner_id", BigInteger, nullable=False),
    Column("settlement", String(16), nullable=False),
    Column("with_key", Boolean, nullable=False),
    Column("event_name", Text),
    Column("address_hash", String(24)),  # of a browser, as on a click
    Column("outranked_by", BigInteger),
    timestamp_column("outranked_at", nullable=True),
    timestamp_column("at"),
    UniqueConstraint("program_id", "customer_id", "settlement"),
    Index("ix_leads_outranked_by", "program_id", "outranked_by"),
    reference("customer_id", "customers.id", deferrable=True, initially="DEFERRED"),
)

sales = event_table(
    "sales",
    Column("transaction_id", String(255), nullable=False),
    Column("customer_id", BigInteger, nullable=False),
    Column("partner_id", BigInteger, nullable=False),
    Column("amount_cents", BigInteger, nullable=False),
    Column("currency", String(3), nullable=False),
    Column("program_cents", BigInteger, nullable=False),
    Column("tax_cents", BigInteger, nullable=False, server_default="0"),
    Column("shipping_cents", BigInteger, nullable=False, server_default="0"),
    Column("refunded_cents", BigInteger, nullable=False, server_default="0"),
    Column("details", Text),
    Column("customer_key", String(255)),
    Column("payload_hash", String(64), nullable=False),
    Column("provenance", String(16), nullable=False, server_default="api"),
    Column("caller", String(192)),  # the program and the network that called with the key
    timestamp_column("occurred_at"),
    timestamp_column("at"),
    UniqueConstraint("program_id", "transaction_id"),
    Index("ix_sales_customer", "program_id", "customer_id"),
    reference("customer_id", "customers.id", deferrable=True, initially="DEFERRED"),
)

refunds = event_table(
    "refunds",
    Column("sale_id", BigInteger, nullable=False),
    Column("refund_id", String(255)),
    Column("amount_cents", BigInteger, nullable=False),
    Column("program_cents", BigInteger, nullable=False),
    Column("reversed_cents", BigInteger, nullable=False),
    Column("reason", Text),
    Column("request_id", String(64)),  # of the call: the unique key rejects a second run of it
    Column("reported_cents", BigInteger),  # what the API said, if another report had taken some of it back
    Column("caller", String(192)),
    Column("in_account", Boolean),  # whether the processor reports it, too; null while that follows from its reports
    timestamp_column("at"),
    UniqueConstraint("program_id", "sale_id", "refund_id"),
    Index("ix_refunds_request", "program_id", "request_id", unique=True),
    reference("sale_id", "sales.id"),
)

commissions = event_table(
    "commissions",
    Column("partner_id", BigInteger, nullable=False),
    Column("customer_id", BigInteger, nullable=False),
    Column("sale_id", BigInteger),
    Column("lead_id", BigInteger),
    Column("terms_version", Integer, nullable=False),
    Column("amount_cents", BigInteger, nullable=False),
    Column("currency", String(3), nullable=False),
    Column("status", String(16), nullable=False),
    Column("approved_by_key_id", AssignedId),
    Column("credited_by", String(512)),  # who credited it by hand; NULL: the sale or lead was reported
    timestamp_column("created_at"),
    timestamp_column("hold_until"),
    timestamp_column("paid_at", nullable=True),
    Index("ix_commissions_sale", "program_id", "sale_id", unique=True),
    Index("ix_commissions_status", "program_id", "status", "id"),
    Index("ix_commissions_lead", "program_id", "lead_id", unique=True),
    reference("terms_version", "commission_terms.version"),
)

ledger_entries = event_table(
    "ledger_entries",
    Column("partner_id", BigInteger, nullable=False),
    Column("commission_id", BigInteger),
    Column("payout_id", BigInteger),
    Column("kind", String(32), nullable=False),
    Column("amount_cents", BigInteger, nullable=False),
    Column("corrects_id", BigInteger),
    Column("refund_id", BigInteger),
    Column("reason", Text),  # of a bonus, a correction or a move
    timestamp_column("at"),
    Index("ix_ledger_entries_commission", "program_id", "commission_id"),
    Index("ix_ledger_entries_partner", "program_id", "partner_id"),
    reference("commission_id", "commissions.id"),
)

currency_rates = table(
    "currency_rates",
    Column("currency", String(3), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("per_euro", String(32), nullable=False),
)

COUNTS = ("clicks", "leads", "conversions", "sales", "revenue_cents", "commission_cents", "partners")


def _counts() -> list[Column[int]]:
    return [Column(name, BigInteger, nullable=False, server_default="0") for name in COUNTS]


# `changes` counts what changed the day besides clicks: it says that the totals by dimension are out of date.
rollups = program_table(
    "rollups",
    Column("day", Date, primary_key=True),
    *_counts(),
    Column("changes", BigInteger, nullable=False, server_default="0"),
)

partner_rollups = program_table(
    "partner_rollups",
    Column("day", Date, primary_key=True),
    Column("partner_id", BigInteger, primary_key=True, autoincrement=False),
    *_counts(),
)

dimension_rollups = program_table(
    "dimension_rollups",
    Column("dimension", String(16), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("totals", Text, nullable=False),  # JSON, see storage/rules/reports/dimension_totals.py
)

# How far a day's totals by dimension are: `clicks` of those before the click id `until`, and its `changes`.
grouped_days = program_table(
    "grouped_days",
    Column("day", Date, primary_key=True),
    Column("phase", String(8), nullable=False, default="open"),  # which 0.3.0 reads beside this version
    Column("until", String(64), nullable=False),
    Column("clicks", BigInteger, nullable=False),
    Column("changes", BigInteger, nullable=False),
)
