"""`svc admin program`, `svc admin partner` and `svc admin program-key`: programs, their partners and their keys."""

from datetime import datetime
from typing import Annotated

import typer
from rich.markup import escape

from cli.admin import command, options
from cli.integrator.output import Answer
from storage.access import program_keys
from storage.management import partners, program_settings
from storage.rules.keys import rotation_state
from storage.rules.settings import ProgramSettings
from storage.rules.settlement import LeadAuthPolicy

app, partners_app, keys_app = (typer.Typer(no_args_is_help=True) for _ in range(3))
Domain = Annotated[str, typer.Option(parser=options.domain, metavar="DOMAIN", help="Such as example.com.")]
Percent = Annotated[
    int, typer.Option(parser=options.percent, metavar="PERCENT", help="Of each sale, up to two decimals.")
]
Policy = Annotated[LeadAuthPolicy, typer.Option(help="Whether a browser alone can settle a lead.")]
Code = Annotated[str, typer.Option(parser=options.code, metavar="CODE", help="The value of ?aff= in links.")]
Deadline = Annotated[
    datetime,
    typer.Option(parser=options.timestamp, metavar="TIME", help="ISO 8601 with a time zone; a date means 00:00 UTC."),
]
KeyStdin = Annotated[bool, typer.Option("--key-stdin", help="Read the key from standard input.")]


@command.register(app)
def create(
    workspace: options.WorkspaceId,
    name: options.Name,
    domain: Domain,
    commission_rate: Percent = "20",  # type: ignore[assignment] # typer parses a default as it parses an argument
    lead_auth_policy: Policy = LeadAuthPolicy.SERVER_REQUIRED,
) -> Answer:
    r"""Create a program with a hidden key; `program-key generate` shows a new one.

    Example:
      svc admin program create --workspace 1 --name "Acme Partners" \\
        --domain acme.example --commission-rate 12.5

    """
    settings = ProgramSettings(name=name, domain=domain, rate=commission_rate, lead_auth_policy=lead_auth_policy)
    program_id = command.change_in("workspace", program_settings.create, workspace, settings)
    following = f"Next: svc admin program-key generate --program {program_id}"
    return Answer({"program_id": program_id}, f"Program {program_id} ({escape(name)}) is created.\n{following}")


@command.register(partners_app, "create")
def add_partner(
    program: options.ProgramId,
    name: options.Name,
    code: Code,
    email: Annotated[str | None, typer.Option(parser=options.email, metavar="EMAIL")] = None,
) -> Answer:
    """Add a partner to a program.

    Example: svc admin partner create --program 1 --name "Nora Blogs" --code nora
    """
    about = {"name": name, "code": code, "email": email}
    made = command.change_in("program", partners.enrol, program, **about)
    text = f"Partner {made.id} ({escape(name)}) is added; their links have ?aff={escape(code)}"
    return Answer({"partner_id": made.id, "code": code}, text)


@command.register(keys_app)
def generate(program: options.ProgramId) -> Answer:
    """Replace a program's key and show the new one once; the old key stops at once.

    Example: svc admin program-key generate --program 1 --json
    """
    new = command.change_in("program", program_keys.regenerate, program)
    text = f"{new.secret}\nThis is the key of program {program}. It is not shown again."
    return Answer({"api_token": new.secret, "api_token_masked": new.masked}, text)


@command.register(keys_app, "import")
def import_key(program: options.ProgramId, key_stdin: KeyStdin = False) -> Answer:
    """Import a program's older key, without the aff_ prefix, so that its integrations continue to work.

    Example: svc admin program-key import --program 1 --key-stdin < old-key.txt
    """
    secret = options.secret(asked=key_stdin, option="--key-stdin", prompt="key")
    new = command.change_in("program", program_keys.import_key, program, secret)
    text = f"Program {program} now uses the key {new.masked}."
    return Answer({"program_id": program, "api_token_masked": new.masked}, text)


@command.register(keys_app)
def flag(program: options.ProgramId, deadline: Deadline) -> Answer:
    """Flag a program's key for rotation; it stops working at the deadline.

    Until then every response has a warning. A deadline in the past ends the key now.

    Example: svc admin program-key flag --program 1 --deadline 2027-01-31
    """
    at = command.now()
    command.change_in("program", program_keys.flag, program, rotate_by=deadline, at=at)
    state = rotation_state(deadline, at)
    text = f"The key of program {program} is {state}; it must be rotated by {deadline.isoformat()}."
    return Answer({"program_id": program, "flagged_at": at, "rotate_by": deadline, "state": state}, text)
