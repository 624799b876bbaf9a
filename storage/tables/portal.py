"""The partners' portal: links and sessions (as hashes), what partners are mailed, what they ask, and who applies."""

from sqlalchemy import BigInteger, Boolean, Column, Date, Index, Integer, String, Text

from storage.tables.columns import event_table, program_table, reference, timestamp_column, where

# A link opens a session once. One that was asked for by e-mail has a row for each program in which a partner has the
# address; `browser_hash` names the browser that asked, NULL: a manager made the link. Both end when `email` changes.
portal_tokens = program_table(
    "portal_tokens",
    Column("token_hash", String(64), primary_key=True),
    Column("kind", String(8), nullable=False),
    Column("partner_id", BigInteger, nullable=False),
    Column("email", String(255), nullable=False),  # the partner's, empty without one
    Column("browser_hash", String(64)),
    Column("client", String(255)),  # the name of the browser: untrusted text
    timestamp_column("created_at"),
    timestamp_column("expires_at"),
    timestamp_column("used_at", nullable=True),  # to the hour; NULL: not since it began
    Index("ix_portal_tokens_token_hash", "token_hash"),
    Index("ix_portal_tokens_partner", "program_id", "partner_id"),
    reference("partner_id", "partners.id"),
)

# A partner has a row once they have signed in.
portal_accounts = program_table(
    "portal_accounts",
    Column("partner_id", BigInteger, primary_key=True, autoincrement=False),
    Column("mails_payments", Boolean, nullable=False, server_default="1"),
    Column("mails_summaries", Boolean, nullable=False, server_default="1"),
    Column("mailed_number", Integer, nullable=False),  # the newest statement of which they know
    Column("summarized_on", Date, nullable=False),  # the first day of the newest month of which they know
    reference("partner_id", "partners.id"),
)

sale_questions = event_table(
    "sale_questions",
    Column("partner_id", BigInteger, nullable=False),
    Column("sold_on", Date, nullable=False),
    Column("transaction_id", String(255), nullable=False),
    Column("note", Text),
    timestamp_column("created_at"),
    Column("answer", Text),
    Column("answered_by", String(512)),
    timestamp_column("answered_at", nullable=True),
    Index("ix_sale_questions_partner", "program_id", "partner_id"),
    Index("ix_sale_questions_open", "program_id", unique=False, **where("answered_at IS NULL")),
    reference("partner_id", "partners.id"),
)

partner_applications = event_table(
    "partner_applications",
    Column("name", String(512), nullable=False),
    Column("email", String(255), nullable=False),
    Column("site", String(512), nullable=False),
    Column("reason", Text),  # how they want to promote the program
    Column("state", String(16), nullable=False),
    timestamp_column("created_at"),
    Column("decided_by", String(512)),
    timestamp_column("decided_at", nullable=True),
    Column("partner_id", BigInteger),  # who was enrolled
    Index("ix_partner_applications_waiting", "program_id", "email", unique=True, **where("state = 'waiting'")),
)
