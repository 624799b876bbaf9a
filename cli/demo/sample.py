"""`svc demo`: a sample workspace in a database of its own, recorded by the real operations, served until Ctrl-C."""

import asyncio
import os
import secrets
import signal
import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from cli import logs, serve
from cli.admin import command as admin
from cli.demo.history import DAYS, SAMPLE, STEP, History
from cli.integrator.output import answering, say, written
from storage import migrations
from storage.access import agent_keys, passwords, workspaces
from storage.engine.audit import Actor
from storage.engine.sealing import Sealer
from storage.rules.scope import Scope

OWNER = "olivia@sample.example"


def command(host: serve.Host = "127.0.0.1", port: serve.Port = 8000) -> None:
    """Serve a fresh sample workspace: two programs, eight partners, 90 days of clicks, leads, sales and refunds."""
    signal.signal(signal.SIGTERM, _leave)
    with tempfile.TemporaryDirectory(prefix="svc-demo-") as folder, answering(as_json=False), admin.failures():
        logs.configure()
        os.environ["SVC_DATABASE_URL"] = url = f"sqlite+aiosqlite:///{Path(folder) / 'demo.db'}"
        listening = serve.listen(host, port)
        os.environ["SVC_SECRET_KEY"] = secret_key = secrets.token_urlsafe(32)
        password = secrets.token_urlsafe(9)
        asyncio.run(migrations.upgrade(url))
        _, programs, agent_key = admin.write(
            create, password_hash=passwords.protect(password), sealer=Sealer(secret_key), at=admin.now()
        )
        about = {"address": serve.address(listening), "email": OWNER, "password": password, "agent_key": agent_key}
        say(written("demo/introduction", **about, programs=programs))
        sys.stdout.flush()
        serve.run(listening)


def _leave(*_: object) -> None:
    """End as Ctrl-C does, so that the temporary database is removed; a second signal does not interrupt that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)


def create(
    connection: Connection, *, password_hash: str, sealer: Sealer, at: datetime
) -> tuple[int, list[tuple[int, str, str]], str]:
    """Create the sample workspace; return its id, each program's id, name and key, and an agent key."""
    start = (at - timedelta(days=DAYS)).replace(hour=0, minute=0, second=0, microsecond=0)
    account: Any = {"owner_email": OWNER, "password_hash": password_hash}
    workspace_id, owner_id = workspaces.create(connection, "Sample", **account, at=start)
    colleague: Any = {"email": "max@sample.example", "role": workspaces.Role.MEMBER, "password_hash": password_hash}
    workspaces.add_member(connection, workspace_id, **colleague, at=start)
    owner = Actor("user", str(owner_id), OWNER)
    histories = [History(connection, workspace_id, owner, shop, start, sealer) for shop in SAMPLE["shops"]]
    begin = start
    while begin < at:
        for history in histories:
            history.record(begin, min(begin + STEP, at))
        begin += STEP
    agent_key = agent_keys.issue(connection, workspace_id, name="Demo agent", scopes=list(Scope), at=at)
    programs = [(history.program_id, history.settings.name, history.key) for history in histories]
    return workspace_id, programs, agent_key.secret
