"""The second step of signing in: what proves, for five minutes, that the first one gave the right password."""

import json
from datetime import timedelta

from starlette.requests import Request

from storage.access import sessions
from storage.access.sessions import Account
from storage.engine.sealing import UnreadableSecretError
from storage.rules import keys
from storage.rules.errors import InvalidCredentials
from tracking_api.dashboard.authentication import storage_of, time_of

LIFETIME = timedelta(minutes=5)
PURPOSE = "second step of signing in"


def prove(request: Request, account: Account) -> str:
    """Return a proof for the form: its holder cannot read or change it, and it ends with the password."""
    until = (time_of(request) + LIFETIME).timestamp()
    values = [PURPOSE, account.email, keys.digest(account.password_hash), until]
    sealed: str = request.app.state.settings.sealer().seal(json.dumps(values))
    return sealed


async def require_proof(request: Request, proof: str) -> Account:
    """Return the account of a proof. Raises InvalidCredentials if it is not ours, or no longer good."""
    try:
        values = json.loads(request.app.state.settings.sealer().open(proof))
    except UnreadableSecretError:
        raise InvalidCredentials("Sign in again.") from None
    if not isinstance(values, list) or values[0] != PURPOSE or values[3] <= time_of(request).timestamp():
        raise InvalidCredentials("That took too long. Sign in again.")
    account = await storage_of(request).read(sessions.account, values[1])
    if account is None or keys.digest(account.password_hash) != values[2]:
        raise InvalidCredentials("Sign in again.")
    return account
