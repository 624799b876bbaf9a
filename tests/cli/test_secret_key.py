"""`svc admin secrets rotate`: what was encrypted with the old key can be read only with the new one."""

import asyncio
from typing import Any

import storage
from storage.engine.audit import Actor
from storage.engine.sealing import Sealer
from storage.payments import accounts
from tests import world
from tests.cli.conftest import Svc
from tests.world import NOW


async def connect(url: str, key: str) -> int:
    async with storage.opened(url) as store:
        acme = await world.acme(store)
        about: dict[str, Any] = {"provider": "stripe", "account_id": "acct_1", "secret": "whsec_12345678"}
        actor = Actor("user", "1", "olga@acme.example")
        await store.write(accounts.connect, acme.program_id, **about, sealer=Sealer(key), actor=actor, at=NOW)
        return acme.program_id


async def opened(url: str, program_id: int, key: str) -> str:
    async with storage.opened(url) as store:
        account = await store.read(accounts.get_account, program_id)
        return Sealer(key).open(account.sealed[0])


def test_only_with_the_old_key_is_everything_encrypted_anew(svc: Svc):
    url = f"sqlite+aiosqlite:///{svc.database}"
    assert svc("admin", "db", "upgrade").code == 0
    program_id = asyncio.run(connect(url, "old"))
    rotate = ("admin", "secrets", "rotate", "--json")

    wrong = svc(*rotate, SVC_SECRET_KEY="new", SVC_SECRET_KEY_OLD="other")
    unset = svc(*rotate)
    before = asyncio.run(opened(url, program_id, "old"))
    done = svc(*rotate, SVC_SECRET_KEY="new", SVC_SECRET_KEY_OLD="old")

    assert (wrong.code, wrong.json["error"]["code"]) == (1, "secret_unreadable")
    assert (unset.code, unset.json["error"]["code"]) == (1, "secret_key_missing")
    assert (done.code, done.json) == (0, {"payment_accounts": 1, "second_factors": 0})
    assert before == asyncio.run(opened(url, program_id, "new")) == "whsec_12345678"
