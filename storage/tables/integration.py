"""What integrations leave (tests, logs, rejected and repeated calls), payment accounts, and notes of processes.

A batch without a response to its COMMIT is looked up by its token. On a distributed database, the row of a program's
place shows a statement where to store rows, and tokens lie beside the events.
"""

from storage.tables.schema import read_tables

_tables = read_tables("integration")
test_events = _tables["test_events"]
tracking_log = _tables["tracking_log"]
refused_calls = _tables["refused_calls"]
kept_calls = _tables["kept_calls"]
idempotent_calls = _tables["idempotent_calls"]
key_callers = _tables["key_callers"]
key_caller_weeks = _tables["key_caller_weeks"]
payment_accounts = _tables["payment_accounts"]
payment_events = _tables["payment_events"]
payment_event_names = _tables["payment_event_names"]
payment_references = _tables["payment_references"]
payment_customers = _tables["payment_customers"]
payment_returns = _tables["payment_returns"]
committed_batches = _tables["committed_batches"]
program_places = _tables["program_places"]
program_batches = _tables["program_batches"]
recurring_tasks = _tables["recurring_tasks"]
