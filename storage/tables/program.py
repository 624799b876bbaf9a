"""Programs with terms, keys (as hashes), caps of agent keys and audit log; partners, flags of fraud, and imports."""

from storage.tables.schema import read_tables

_tables = read_tables("program")
programs = _tables["programs"]
commission_terms = _tables["commission_terms"]
agent_caps = _tables["agent_caps"]
agent_decisions = _tables["agent_decisions"]
agent_rejections = _tables["agent_rejections"]
program_keys = _tables["program_keys"]
retired_program_keys = _tables["retired_program_keys"]
audit_entries = _tables["audit_entries"]
partners = _tables["partners"]
coupons = _tables["coupons"]
flags = _tables["flags"]
imports = _tables["imports"]
plans = _tables["plans"]
saved_views = _tables["saved_views"]
changes = _tables["changes"]
change_counters = _tables["change_counters"]
