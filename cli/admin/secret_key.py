"""`svc admin secrets`: the secrets that SVC_SECRET_KEY encrypts."""

import os
from pathlib import Path

import typer
from sqlalchemy import Connection

import configuration
from cli.admin import command
from cli.admin.command import CommandAnswer
from cli.integrator.output import Failure
from storage.access import second_factors
from storage.engine import sealing
from storage.engine.sealing import Sealer, UnreadableSecretError
from storage.payments import accounts

OLD = "SVC_SECRET_KEY_OLD"
app = typer.Typer(no_args_is_help=True)


@command.register(app)
def rotate() -> CommandAnswer:
    """Encrypt every stored secret again: SVC_SECRET_KEY_OLD decrypts it, SVC_SECRET_KEY encrypts it.

    Without SVC_SECRET_KEY_OLD the old key is the one in svc.secret. Restart the service with the new key afterwards.

    Example:
      SVC_SECRET_KEY_OLD=... SVC_SECRET_KEY=... svc admin secrets rotate

    """
    new = configuration.load().secret_key
    if not new:
        raise Failure("secret_key_missing", "SVC_SECRET_KEY is not set.", "Set it to the new key.")
    old = os.environ.get(OLD) or sealing.local_key(Path("svc.secret"))
    try:
        resealed = command.write(_reseal, Sealer(new, old))
    except UnreadableSecretError as unreadable:
        raise Failure("secret_unreadable", str(unreadable), f"Set {OLD} to the previous key.") from None
    return CommandAnswer(
        resealed,
        f"The secrets of {resealed['payment_accounts']} payment accounts and {resealed['second_factors']} second "
        "factors are encrypted with the new key.",
    )


def _reseal(connection: Connection, sealer: Sealer) -> dict[str, int]:
    return {
        "payment_accounts": accounts.reseal(connection, sealer),
        "second_factors": second_factors.reseal(connection, sealer),
    }
