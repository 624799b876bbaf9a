"""Payouts: how partners are paid, the runs in which they were, a line for each partner, and what each line settles.

A run is a draft until it is sent. The unique keys allow a program one open draft, and a commission one live item.
"""

from storage.tables.schema import read_tables

_tables = read_tables("payout")
payout_methods = _tables["payout_methods"]
payouts = _tables["payouts"]
payout_lines = _tables["payout_lines"]
payout_items = _tables["payout_items"]
