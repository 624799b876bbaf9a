"""People who are invited to Acme or get a reset link."""

from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from storage.access import accounts, invitations, members, workspaces
from storage.access.workspaces import Role
from storage.engine.audit import Actor, By
from storage.rules.errors import LinkExpired
from tests.world import BY, NOW, SEALER, World

EVA, MAX, OLGA, NEW = "eva@acme.example", "max@acme.example", "olga@acme.example", "new@acme.example"


def by(owner_id: int) -> By:
    return By(Actor("user", str(owner_id), "owner@acme.example"), NOW)


async def invite(acme: World, email: str = EVA, role: Role = Role.MEMBER, owner_id: int | None = None) -> Any:
    about: Any = {"email": email, "role": role, "by": by(owner_id or acme.owner_id)}
    return await acme.store.write(invitations.invite, acme.workspace_id, **about)


async def sign_up(acme: World, token: str, code: str | None = None, password_hash: str = "a hash") -> Any:
    about: dict[str, Any] = {"password_hash": password_hash, "code": code, "sealer": SEALER, "at": NOW}
    return await acme.store.write(invitations.sign_up, token, **about)


async def member(acme: World, email: str = EVA) -> Any:
    return await acme.store.read(members.get_member, acme.workspace_id, email)


async def add(acme: World, email: str, role: Role = Role.MEMBER, workspace_id: int | None = None) -> int:
    there = acme if workspace_id is None else replace(acme, workspace_id=workspace_id)
    return await there.join(email, role, password_hash="an old hash", takes_existing=workspace_id is not None)


async def globex(acme: World, owner: str = "gina@globex.example") -> Any:
    about: dict[str, Any] = {"owner_email": owner, "password_hash": "an old hash", "takes_existing": True, "at": NOW}
    return await acme.store.write(workspaces.create, "Globex", **about)


async def reset_link(acme: World, owner_id: int, user_id: int) -> str:
    return str((await acme.store.write(accounts.create_reset_link, user_id, by=by(owner_id))).token)


async def whose(acme: World, token: str, at: datetime = NOW) -> str:
    """Return the e-mail address of the account that a reset link opens; empty if it opens none."""
    try:
        return str((await acme.store.read(accounts.find_reset, token, at=at)).email)
    except LinkExpired:
        return ""


async def opens(acme: World, token: str) -> bool:
    """Return whether a reset link sets a password; each of its two functions says the same."""
    works = bool(await whose(acme, token))
    with nullcontext() if works else pytest.raises(LinkExpired):
        await acme.store.write(accounts.reset_password, token, "a new hash", at=NOW)
    return works


async def change(acme: World, user_id: int, lane: int = 0, **values: Any) -> None:
    await acme.store.write_in(lane, members.change, acme.workspace_id, user_id, **values, by=BY)


async def remove(acme: World, user_id: int) -> None:
    await acme.store.write(members.remove, acme.workspace_id, user_id, by=BY)
