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

from rich.markup import escape
from sqlalchemy import Connection

from cli import logs, serve
from cli.admin import command as admin
from cli.demo.history import DAYS, STEP, History, Shop
from cli.integrator.output import answering, say
from storage import migrations
from storage.access import agent_keys, passwords, workspaces
from storage.engine.audit import Actor
from storage.rules.scope import Scope
from storage.rules.settings import ProgramSettings
from storage.rules.settlement import LeadAuthPolicy

OWNER = "olivia@sample.example"
SHOPS = (
    Shop(
        ProgramSettings("Ledgerly", "ledgerly.example", rate=2000, recurring_months=12, platform_fee_bps=500),
        *(70, 0.09, 0.42, 0.93, (1900, 4900, 4900, 9900)),
    ),
    Shop(
        ProgramSettings(
            *("Fernwood Outdoor", "fernwood.example"),
            rate=1000,
            lead_commission_cents=100,
            lead_auth_policy=LeadAuthPolicy.BROWSER_ALLOWED,
        ),
        *(45, 0.07, 0.35, 0.15, (3495, 5900, 8950, 12900, 21900)),
    ),
)


def command(host: serve.Host = "127.0.0.1", port: serve.Port = 8000) -> None:
    """Serve a fresh sample workspace: two programs, eight partners, 90 days of clicks, leads, sales and refunds.

    It prints how to sign in and connect. Its database is temporary: nothing of yours is read or changed,
    and all of it is gone when you stop the demo with Ctrl-C.

    Example: svc demo --port 8080
    """
    signal.signal(signal.SIGTERM, _leave)
    with tempfile.TemporaryDirectory(prefix="svc-demo-") as folder, answering(as_json=False), admin.failures():
        logs.configure()
        os.environ["SVC_DATABASE_URL"] = url = f"sqlite+aiosqlite:///{Path(folder) / 'demo.db'}"
        listening = serve.listen(host, port)
        password = secrets.token_urlsafe(9)
        asyncio.run(migrations.upgrade(url))
        _, programs, agent_key = admin.write(create, password_hash=passwords.protect(password), at=admin.now())
        _introduce(programs, agent_key, password, serve.address(listening))
        serve.run(listening)


def _leave(*_: object) -> None:
    """End as Ctrl-C does, so that the temporary database is removed; a second signal does not interrupt that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)


def _introduce(programs: list[tuple[int, str, str]], agent_key: str, password: str, address: str) -> None:
    program_id, _, key = programs[0]
    lines = [
        f"[bold]Serving a sample workspace on {address}[/] (Ctrl-C stops it and removes it)",
        "",
        f"Sign in    {OWNER}  password {escape(password)}",
        *(f"Program    {number}  {escape(name)}  key {escape(key)}" for number, name, key in programs),
        f"Agent key  {escape(agent_key)}",
        "",
        "[bold]Try[/]",
        f"curl {address}/api/v1/cli/status -H 'Authorization: Bearer {key}'",
        f"curl {address}/api/v1/track/click -H 'Content-Type: application/json' \\",
        f'  -d \'{{"program_id": {program_id}, "affiliate_url": "https://ledgerly.example/?aff=nora"}}\'',
        f"curl {address}/api/auth/login -H 'Content-Type: application/json' \\",
        f'  -d \'{{"email": "{OWNER}", "password": "{password}"}}\'',
        f"curl {address}/api/agent/v1/me -H 'Authorization: Bearer {agent_key}'",
        f"claude mcp add --transport http affiliate {address}/mcp --header 'X-Agent-Key: {agent_key}'",
        f"Any other assistant, at {address}/mcp: sign in as above, or send X-Agent-Key: {agent_key}",
    ]
    say("\n".join(lines))
    sys.stdout.flush()


def create(connection: Connection, *, password_hash: str, at: datetime) -> tuple[int, list[tuple[int, str, str]], str]:
    """Create the sample workspace; return its id, each program's id, name and key, and an agent key."""
    start = (at - timedelta(days=DAYS)).replace(hour=0, minute=0, second=0, microsecond=0)
    account: Any = {"owner_email": OWNER, "password_hash": password_hash}
    workspace_id, owner_id = workspaces.create(connection, "Sample", **account, at=start)
    colleague: Any = {"email": "max@sample.example", "role": workspaces.Role.MEMBER, "password_hash": password_hash}
    workspaces.add_member(connection, workspace_id, **colleague, at=start)
    owner = Actor("user", str(owner_id), OWNER)
    histories = [History(connection, workspace_id, owner, shop, start) for shop in SHOPS]
    begin = start
    while begin < at:
        for history in histories:
            history.record(begin, min(begin + STEP, at))
        begin += STEP
    agent_key = agent_keys.issue(connection, workspace_id, name="Demo agent", scopes=list(Scope), at=at)
    programs = [(history.program_id, history.shop.settings.name, history.key) for history in histories]
    return workspace_id, programs, agent_key.secret
