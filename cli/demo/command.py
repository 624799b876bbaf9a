"""`svc demo`: a sample workspace in a database of its own, served until Ctrl-C."""

import asyncio
import os
import secrets
import signal
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.markup import escape

import storage
from cli import logs, serve
from cli.admin import command as admin
from cli.demo import sample
from cli.demo.sample import Sample
from cli.integrator.output import answering
from storage import migrations
from storage.access import passwords


def command(host: serve.Host = "127.0.0.1", port: serve.Port = 8000) -> None:
    """Serve a fresh sample workspace: two programs, eight partners, 90 days of clicks, leads, sales and refunds.

    It prints how to sign in and connect. Its database is temporary: nothing of yours is read or changed,
    and all of it is gone when you stop the demo with Ctrl-C.

    Example:
      svc demo --port 8080

    """
    signal.signal(signal.SIGTERM, _leave)
    with tempfile.TemporaryDirectory(prefix="svc-demo-") as folder, answering(as_json=False), admin.failures():
        logs.configure()
        os.environ["SVC_DATABASE_URL"] = url = f"sqlite+aiosqlite:///{Path(folder) / 'demo.db'}"
        listening = serve.listen(host, port)
        password = secrets.token_urlsafe(9)
        made = asyncio.run(_create(url, passwords.protect(password)))
        _introduce(made, password, serve.address(listening))
        serve.run(listening)


def _leave(*_: object) -> None:
    """End as Ctrl-C does, so that the temporary database is removed; a second signal does not interrupt that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)


async def _create(url: str, password_hash: str) -> Sample:
    await migrations.upgrade(url)
    async with storage.opened(url, patient=True) as store:
        return await store.write(sample.create, password_hash=password_hash, at=admin.now())


def _introduce(made: Sample, password: str, address: str) -> None:
    """Print what to try, with commands to copy."""
    program_id, _, key = made.programs[0]
    lines = [
        f"[bold]Serving a sample workspace on {address}[/] (Ctrl-C stops it and removes it)",
        "",
        f"Sign in    {made.owner_email}  password {escape(password)}",
        *(f"Program    {number}  {escape(name)}  key {escape(key)}" for number, name, key in made.programs),
        f"Agent key  {escape(made.agent_key)}",
        "",
        "[bold]Try[/]",
        f"curl {address}/api/v1/cli/status -H 'Authorization: Bearer {key}'",
        f"curl {address}/api/v1/track/click -H 'Content-Type: application/json' \\",
        f'  -d \'{{"program_id": {program_id}, "affiliate_url": "https://ledgerly.example/?aff=nora"}}\'',
        f"curl {address}/api/auth/login -H 'Content-Type: application/json' \\",
        f'  -d \'{{"email": "{made.owner_email}", "password": "{password}"}}\'',
        f"curl {address}/api/agent/v1/me -H 'Authorization: Bearer {made.agent_key}'",
        f"claude mcp add --transport http affiliate {address}/mcp --header 'X-Agent-Key: {made.agent_key}'",
        f"Any other assistant, at {address}/mcp: sign in as above, or send X-Agent-Key: {made.agent_key}",
    ]
    Console(highlight=False).print("\n".join(lines), soft_wrap=True, emoji=False)
    sys.stdout.flush()
