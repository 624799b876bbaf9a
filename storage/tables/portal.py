"""The partners' portal: links and sessions (as hashes), what partners are mailed, what they ask, and who applies."""

from storage.tables.schema import read_tables

_tables = read_tables("portal")
portal_tokens = _tables["portal_tokens"]
portal_accounts = _tables["portal_accounts"]
sale_questions = _tables["sale_questions"]
partner_applications = _tables["partner_applications"]
