"""The `svc` command's index: each command stands in a file of its own."""

import typer

from cli import demo, serve
from cli.admin import app as admin

app = typer.Typer(
    name="svc",
    help="Affiliate tracking: serve it, try it, administer it.",
    epilog="Start with: svc demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("serve")(serve.command)
app.command("demo")(demo.command)
app.add_typer(admin, name="admin")
