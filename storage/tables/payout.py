"""Payouts: how partners are paid, the runs in which they were, a line for each partner, and what each line settles.

A run is a draft until it is sent. The unique keys allow a program one open draft, and a commission one live item.
"""

from sqlalchemy import BigInteger, Boolean, Column, Date, Index, Integer, String, Text

from storage.tables.columns import event_table, program_table, reference, timestamp_column, where

# `sealed` is encrypted JSON (storage/engine/sealing.py), `masked` what people see of it.
payout_methods = program_table(
    "payout_methods",
    Column("partner_id", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
    Column("sealed", Text, nullable=False),
    Column("masked", String(255), nullable=False),
    timestamp_column("changed_at"),
    timestamp_column("held_until"),
    Column("release_reason", Text),
    reference("partner_id", "partners.id"),
)

payouts = event_table(
    "payouts",
    Column("state", String(16), nullable=False),
    Column("earned_until", Date, nullable=False),
    Column("minimum_cents", BigInteger),  # NULL: that of the program and its partners
    Column("left_out", Text, nullable=False),  # JSON: the number of partners who stay out, by reason
    Column("created_by", String(512), nullable=False),
    Column("created_by_id", String(80), nullable=False),  # the type of the actor and its id
    timestamp_column("created_at"),
    Column("confirmed_by", String(512)),
    timestamp_column("confirmed_at", nullable=True),
    Column("paid_on", Date),
    Column("reference", String(255)),
    Column("sent_by", String(512)),
    timestamp_column("sent_at", nullable=True),
    timestamp_column("reopened_at", nullable=True),
    Index("ix_payouts_draft", "program_id", unique=True, **where("state = 'draft'")),
)

# A line that `corrects_id` takes back what another line paid. A line gets the number of its statement when it is paid.
payout_lines = event_table(
    "payout_lines",
    Column("payout_id", BigInteger, nullable=False),
    Column("partner_id", BigInteger, nullable=False),
    Column("number", Integer),
    Column("state", String(16), nullable=False),
    Column("commissions", Integer, nullable=False),
    Column("approved_cents", BigInteger, nullable=False),
    Column("set_off_cents", BigInteger, nullable=False),
    Column("adjusted_cents", BigInteger, nullable=False),
    Column("to_pay_cents", BigInteger, nullable=False),
    Column("method", String(16)),  # NULL: paid without one
    Column("method_sealed", Text),
    Column("method_masked", String(255)),
    timestamp_column("method_changed_at", nullable=True),
    Column("failure", Text),
    Column("corrects_id", BigInteger),
    timestamp_column("created_at"),
    Index("ix_payout_lines_number", "program_id", "number", unique=True),
    Index("ix_payout_lines_payout", "program_id", "payout_id", "partner_id"),
    Index("ix_payout_lines_partner", "program_id", "partner_id"),
    Index("ix_payout_lines_corrects", "program_id", "corrects_id", unique=True),
    reference("payout_id", "payouts.id"),
    reference("partner_id", "partners.id"),
)

# What a commission was worth when a line froze it. The item of a failed or discarded line is no longer live.
payout_items = program_table(
    "payout_items",
    Column("payout_id", BigInteger, primary_key=True, autoincrement=False),
    Column("partner_id", BigInteger, primary_key=True, autoincrement=False),
    Column("commission_id", BigInteger, primary_key=True, autoincrement=False),
    Column("net_cents", BigInteger, nullable=False),
    Column("is_live", Boolean, nullable=False),
    Index("ix_payout_items_live", "program_id", "commission_id", unique=True, **where("is_live")),
    reference("commission_id", "commissions.id"),
)
