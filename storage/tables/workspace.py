"""Workspaces, people and how they sign in, agent keys (as hashes), and assistants that signed in by OAuth."""

from storage.tables.schema import read_tables

_tables = read_tables("workspace")
workspaces = _tables["workspaces"]
workspace_logos = _tables["workspace_logos"]
users = _tables["users"]
members = _tables["members"]
invitations = _tables["invitations"]
sessions = _tables["sessions"]
device_logins = _tables["device_logins"]
password_resets = _tables["password_resets"]
second_factors = _tables["second_factors"]
recovery_codes = _tables["recovery_codes"]
agent_keys = _tables["agent_keys"]
idempotent_answers = _tables["idempotent_answers"]
assistant_clients = _tables["assistant_clients"]
assistants = _tables["assistants"]
assistant_tokens = _tables["assistant_tokens"]
