"""Breaks a PostgreSQL server: restarts it at once, freezes it, makes it read-only or a standby, and undoes that."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import asyncpg

from tests.postgres import Server


async def restart(server: Server) -> None:
    """Restart it without a checkpoint, as after a crash."""
    await asyncio.to_thread(server.control, "--mode", "immediate", "--wait", "restart")


@asynccontextmanager
async def stopped(server: Server) -> AsyncIterator[None]:
    """Keep it down."""
    await asyncio.to_thread(server.control, "--mode", "immediate", "--wait", "stop")
    try:
        yield
    finally:
        await asyncio.to_thread(server.control, "--wait", "start")


@asynccontextmanager
async def frozen(server: Server) -> AsyncIterator[None]:
    """Stop all of its processes with a signal: connections stay open, and get no response."""
    everyone = _freeze(server)
    try:
        yield
    finally:
        _signal(everyone, signal.SIGCONT)


@asynccontextmanager
async def read_only(server: Server) -> AsyncIterator[None]:
    """Make every transaction read-only, also of connections that are open."""
    await _alter(server, "SET default_transaction_read_only = on")
    try:
        yield
    finally:
        await _alter(server, "RESET default_transaction_read_only")


@asynccontextmanager
async def in_recovery(server: Server) -> AsyncIterator[None]:
    """Make it a standby, then promote it."""
    sign = server.data / "standby.signal"
    sign.touch()
    os.chown(sign, server.data.stat().st_uid, server.data.stat().st_gid)
    await restart(server)
    try:
        yield
    finally:
        await asyncio.to_thread(server.control, "--wait", "promote")


async def _alter(server: Server, what: str) -> None:
    connection = await asyncpg.connect(
        server.url.replace("+asyncpg", ""), server_settings={"default_transaction_read_only": "off"}
    )
    try:
        await connection.execute(f"ALTER SYSTEM {what}")
        await connection.execute("SELECT pg_reload_conf()")
    finally:
        await connection.close()


def _freeze(server: Server) -> list[int]:
    """Stop the first process, so that it makes no more, then its children; return them all."""
    postmaster = int((server.data / "postmaster.pid").read_text().splitlines()[0])
    os.kill(postmaster, signal.SIGSTOP)
    children = [int(each) for each in Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()]
    _signal(children, signal.SIGSTOP)
    return [*children, postmaster]


def _signal(processes: list[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)
