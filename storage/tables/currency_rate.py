"""Exchange rates as loaded: units of a currency for one euro on a day, as exact decimal text."""

from sqlalchemy import Column, Date, String, Table

from storage.tables.columns import metadata

currency_rates = Table(
    "currency_rates",
    metadata,
    Column("currency", String(3), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("per_euro", String(32), nullable=False),
)
