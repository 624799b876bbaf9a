"""The index of the `svc` commands; each command's module is imported when the command runs."""

import gc
import re
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

gc.set_threshold(50_000, 20, 100)  # what is imported stays: looking through it again and again took 0.5 s of a start

# Command: where it is defined, and its line in `svc --help`, which is the first line of its own help.
COMMANDS = {
    "serve": ("cli.serve:command", "Apply migrations, then serve the API."),
    "demo": (
        "cli.demo.sample:command",
        "Serve a fresh sample workspace: two programs, eight partners, 90 days of clicks, leads, sales and refunds.",
    ),
    "login": ("cli.integrator.login:login", "Log this command line in: open a page, compare a code, approve it."),
    "logout": ("cli.integrator.login:logout", "End this command line's login, on this machine and on the service."),
    "init": (
        "cli.integrator.init:init",
        "Write .svc/ for this project: AGENTS.md and skills.md for coding agents, .env with the key, .env.example.",
    ),
    "status": (
        "cli.integrator.status:status",
        "Show the program's health and the open steps of its integration.",
    ),
    "doctor": (
        "cli.integrator.doctor:doctor",
        "Check a shop: tracker, addresses, proxy, policy, consent, cookie, key, rotation, clock, metadata.",
    ),
    "explain": (
        "cli.integrator.status:explain",
        "Explain why a sale was credited or not, even if it was rejected or never arrived.",
    ),
    "reconcile": (
        "cli.integrator.reconcile:reconcile",
        "Compare a Stripe export with the sales: missing or doubled, wrong amounts, missing refunds and renewals.",
    ),
    "listen": (
        "cli.integrator.listen:listen",
        "Show each event of the payment processor as it arrives, with its outcome and what to do, until Ctrl-C.",
    ),
    "admin": ("cli.admin:app", "Set up workspaces, programs, partners and keys; import rates; check the database."),
    "programs": ("cli.integrator.programs:app", "List, create and delete programs, as the logged-in account."),
    "partners": ("cli.integrator.programs:partners_app", "Add partners, as the logged-in account."),
    "test": (
        "cli.integrator.try_calls:app",
        "Send a test-mode call, without commission or attribution.",
    ),
}


class Index(TyperGroup):
    """Lists COMMANDS without importing them; imports the one that is used."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the signature of TyperGroup
        return [name for name, (target, _) in COMMANDS.items() if _is_installed(target)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name][1]) if cmd_name in self.list_commands(ctx) else None

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        return name, load(str(name)), rest


def _is_installed(target: str) -> bool:
    """Whether a command is here: the package `svc-cli` has those for integrators alone."""
    return find_spec(".".join(re.split("[.:]", target)[:2])) is not None


def load(name: str) -> Any:
    """Import a command, or a group of commands, and return it as Typer runs it."""
    module, attribute = COMMANDS[name][0].split(":")
    target = getattr(import_module(module), attribute)
    parent = typer.Typer()
    if isinstance(target, typer.Typer):
        parent.add_typer(target, name=name)
    else:
        parent.command(name)(target)
    return typer.main.get_group(parent).commands[name]


app = typer.Typer(
    cls=Index,
    name="svc",
    epilog=("Start with: svc demo. " if _is_installed("cli.demo") else "")
    + "In a shop's project: svc login, then svc init.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def svc() -> None:
    """Serve, try, administer and integrate the affiliate tracking service."""
