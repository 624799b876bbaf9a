"""The `svc` command's index: each command stands in a file of its own."""

import typer

from cli import serve
from cli.admin import app as admin
from cli.demo import command as demo
from cli.integrator import explain, init, login, programs, reconcile, status, try_calls

app = typer.Typer(
    name="svc",
    help="Affiliate tracking: serve it, try it, administer it, integrate it.",
    epilog="Start with: svc demo. In a shop's project: svc login, then svc init.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("serve")(serve.command)
app.command("demo")(demo.command)
app.add_typer(admin, name="admin")
app.command("login")(login.login)
app.command("logout")(login.logout)
app.command("init")(init.init)
app.command("status")(status.status)
app.command("explain")(explain.explain)
app.command("reconcile")(reconcile.reconcile)
app.add_typer(programs.app, name="programs")
app.add_typer(try_calls.app, name="test")
