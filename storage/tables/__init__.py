"""The tables, a file for each subject; `metadata` is what migrations and models agree on."""

from storage.tables.agent import agent_keys, idempotent_answers
from storage.tables.assistant import assistant_clients, assistant_tokens, assistants
from storage.tables.click import click_retention, clicks, used_handovers
from storage.tables.columns import metadata
from storage.tables.customer import customers
from storage.tables.event import leads, refunds, sales
from storage.tables.integration import idempotent_calls, key_callers, refused_calls, test_events, tracking_log
from storage.tables.ledger import commissions, currency_rates, ledger_entries
from storage.tables.partner import flags, partners
from storage.tables.payment import (
    payment_accounts,
    payment_customers,
    payment_event_names,
    payment_events,
    payment_references,
    payment_returns,
)
from storage.tables.process import committed_batches, program_batches, program_places, recurring_tasks
from storage.tables.program import (
    agent_caps,
    audit_entries,
    commission_terms,
    program_keys,
    programs,
    retired_program_keys,
)
from storage.tables.rollup import dimension_rollups, grouped_days, partner_rollups, rollups
from storage.tables.workspace import (
    device_logins,
    invitations,
    members,
    password_resets,
    recovery_codes,
    second_factors,
    sessions,
    users,
    workspace_logos,
    workspaces,
)

__all__ = [
    "agent_caps",
    "agent_keys",
    "assistant_clients",
    "assistant_tokens",
    "assistants",
    "audit_entries",
    "click_retention",
    "clicks",
    "commission_terms",
    "commissions",
    "committed_batches",
    "currency_rates",
    "customers",
    "device_logins",
    "dimension_rollups",
    "flags",
    "grouped_days",
    "idempotent_answers",
    "idempotent_calls",
    "invitations",
    "key_callers",
    "leads",
    "ledger_entries",
    "members",
    "metadata",
    "partner_rollups",
    "partners",
    "password_resets",
    "payment_accounts",
    "payment_customers",
    "payment_event_names",
    "payment_events",
    "payment_references",
    "payment_returns",
    "program_batches",
    "program_keys",
    "program_places",
    "programs",
    "recovery_codes",
    "recurring_tasks",
    "refunds",
    "refused_calls",
    "retired_program_keys",
    "rollups",
    "sales",
    "second_factors",
    "sessions",
    "test_events",
    "tracking_log",
    "used_handovers",
    "users",
    "workspace_logos",
    "workspaces",
]
