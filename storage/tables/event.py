"""Clicks, customers, leads, sales and refunds; commissions, the ledger, exchange rates and daily totals.

The unique keys decide what is a duplicate. Every change of a balance is a signed entry of the ledger.
A customer is made from a click at the first lead or sale, and linked to that click's partner for good. On PostgreSQL
clicks are partitioned by month (storage/tracking/click_retention.py) and have no foreign key.
"""

from sqlalchemy import BigInteger, Column, Date, String

from storage.tables.columns import AssignedId, program_table, reference
from storage.tables.schema import read_tables

_tables = read_tables("event")
clicks = _tables["clicks"]
click_retention = _tables["click_retention"]
used_handovers = _tables["used_handovers"]
customers = _tables["customers"]
leads = _tables["leads"]
sales = _tables["sales"]
refunds = _tables["refunds"]
commissions = _tables["commissions"]
ledger_entries = _tables["ledger_entries"]
currency_rates = _tables["currency_rates"]
rollups = _tables["rollups"]
partner_rollups = _tables["partner_rollups"]
dimension_rollups = _tables["dimension_rollups"]
clicks.append_constraint(reference("partner_id", "partners.id").ddl_if("sqlite"))
commissions.c.approved_by_key_id.type = AssignedId()
COUNTS = ("clicks", "leads", "conversions", "sales", "revenue_cents", "commission_cents", "partners")

# How far a day's totals by dimension are: `clicks` of those before the click id `until`, and its `changes`.
grouped_days = program_table(
    "grouped_days",
    Column("day", Date, primary_key=True),
    Column("phase", String(8), nullable=False, default="open"),  # which 0.3.0 reads beside this version
    Column("until", String(64), nullable=False),
    Column("clicks", BigInteger, nullable=False),
    Column("changes", BigInteger, nullable=False),
)
