"""The one-time code that `svc serve` prints on an empty database: it opens the set-up page."""

import os

import configuration
from cli.admin import command as admin
from storage.access import workspaces
from storage.rules import keys

VARIABLE = configuration.variable_of("set_up_code_hash")


def issue() -> str | None:
    """Return a new code and give its hash to the workers; None if the database has a workspace.

    The hash lives as long as this process, so the next start prints another code and this one stops working.
    """
    os.environ.pop(VARIABLE, None)
    if admin.read(workspaces.exist):
        return None
    code = keys.generate(keys.SET_UP_PREFIX)
    os.environ[VARIABLE] = keys.digest(code)
    return code


def introduction(code: str) -> str:
    """Return what to print: a line with the link, and one with the code alone."""
    base_url = configuration.load().base_url
    return f"Nothing is set up yet. Open {base_url}/set-up?code={code}\nor open {base_url} and enter this code: {code}"
