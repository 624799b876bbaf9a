"""The index of the `svc` commands; those of operators are imported when they run, because that takes longer."""

import gc
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from cli.integrator import accounts, doctor, init, reconcile, status, try_calls
from cli.integrator.output import help_of

gc.set_threshold(50_000, 20, 100)  # what is imported stays: looking through it again and again took 0.5 s of a start
# Where a command is defined, and its line in `svc --help`, which is the first line of its own help.
OF_OPERATORS = {
    "serve": ("cli.serve:command", "Apply migrations, then serve the API."),
    "demo": (
        "cli.demo.sample:command",
        "Serve a fresh sample workspace: two programs, eight partners, 90 days of clicks, leads, sales and refunds.",
    ),
    "admin": ("cli.admin:app", "Set up workspaces, programs, partners and keys; import rates; check the database."),
}
IS_SERVER = find_spec("cli.serve") is not None  # the package `svc-cli` has the commands for integrators alone


class Index(TyperGroup):
    """Lists OF_OPERATORS without importing them; imports the one that is used."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*(OF_OPERATORS if IS_SERVER else ()), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if IS_SERVER and cmd_name in OF_OPERATORS:
            return TyperCommand(cmd_name, help=OF_OPERATORS[cmd_name][1])
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, found, rest = super().resolve_command(ctx, args)
        return name, load(name) if name in OF_OPERATORS else found, rest


def load(name: str) -> Any:
    """Import a command of operators, or their group of commands, and return it as Typer runs it."""
    module, attribute = OF_OPERATORS[name][0].split(":")
    target = getattr(import_module(module), attribute)
    if isinstance(target, typer.Typer):
        return typer.main.get_group(target)
    alone = typer.Typer(add_completion=False)
    alone.command(name, help=help_of(target))(target)
    return typer.main.get_command(alone)


app = typer.Typer(
    cls=Index,
    name="svc",
    epilog=("Start with: svc demo. " if IS_SERVER else "") + "In a shop's project: svc login, then svc init.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
commands = (accounts.login, accounts.logout, init.init, status.status, doctor.doctor)
for command in (*commands, status.explain, reconcile.reconcile, status.listen):
    app.command()(command)
app.add_typer(accounts.app, name="programs")
app.add_typer(accounts.partners_app, name="partners")
app.add_typer(try_calls.app, name="test")


def _show_version(is_asked: bool) -> None:  # noqa: FBT001 - Typer calls it so
    if is_asked:
        typer.echo(import_module("web.build").VERSION if IS_SERVER else metadata.version("svc-cli"))
        raise typer.Exit


@app.callback()
def svc(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Serve, try, administer and integrate the affiliate tracking service."""
