"""`svc admin`: the operator's commands on the database, whether or not the service runs."""

import typer

from cli.admin import backup, db, export, imports, payout, program, workspace

app = typer.Typer(
    help="Set up workspaces, programs, partners and keys; import rates; check the database.\n\n"
    "Every command takes --json, and reads SVC_DATABASE_URL (default: svc.db in this folder).",
    no_args_is_help=True,
)
app.add_typer(workspace.app, name="workspace", help="Workspaces: who owns programs.")
app.add_typer(workspace.members_app, name="member", help="The members of a workspace.")
app.add_typer(program.app, name="program", help="Affiliate programs.")
app.add_typer(program.partners_app, name="partner", help="The partners of a program.")
app.add_typer(payout.app, name="payout", help="Payouts: what partners are paid.")
app.add_typer(program.keys_app, name="program-key", help="The key that authenticates a program's tracking calls.")
app.add_typer(program.agent_keys_app, name="agent-key", help="Keys for the agent API and the MCP server.")
app.add_typer(imports.rates_app, name="rates", help="Exchange rates.")
app.add_typer(db.secrets_app, name="secrets", help="The secrets that SVC_SECRET_KEY encrypts.")
app.add_typer(db.app, name="db", help="The database: migrate it, check it.")
for commands in (backup, export, imports):
    app.add_typer(commands.app)
