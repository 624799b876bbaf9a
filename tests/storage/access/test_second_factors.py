"""The second factor: each code counts once, also when two requests bring it together."""

import asyncio
from datetime import timedelta
from typing import Any

import pyotp
import pytest

from storage.access import second_factors, sessions, sign_in
from storage.access.second_factors import Enrolment
from storage.engine import audit
from storage.engine.audit import OPERATOR
from storage.engine.sealing import Sealer
from storage.rules.errors import InvalidSecondFactor, SecondFactorExists, SecondFactorRequired
from storage.tables import recovery_codes
from storage.tables import second_factors as second_factor_rows
from tests.storage.databases import both_databases
from tests.world import NOW, World, stored

SEALER = Sealer("a secret key")
LATER = NOW + timedelta(minutes=5)


async def enrol(acme: World) -> Enrolment:
    made: Enrolment = await acme.store.write(
        second_factors.enrol, acme.owner_id, email="owner@acme.example", sealer=SEALER
    )
    return made


async def turn_on(acme: World) -> tuple[pyotp.TOTP, list[str]]:
    app = pyotp.TOTP((await enrol(acme)).secret)
    about: dict[str, Any] = {"sealer": SEALER, "actor": OPERATOR, "at": NOW}
    return app, await acme.store.write(second_factors.confirm, acme.owner_id, app.at(NOW), **about)


async def spend(acme: World, code: str, at: Any = LATER, lane: int = 0) -> bool:
    try:
        await acme.store.write(second_factors.spend, acme.owner_id, code, sealer=SEALER, at=at, lane=lane)
    except InvalidSecondFactor:
        return False
    return True


async def test_it_is_on_once_a_code_is_confirmed_and_off_when_disabled(acme: World):
    app = pyotp.TOTP((await enrol(acme)).secret)
    account = await acme.store.read(sessions.account, "owner@acme.example")
    start = (sign_in.start, account)
    about: dict[str, Any] = {"sealer": SEALER, "client": None, "at": LATER}

    assert not await acme.store.read(second_factors.is_on, acme.owner_id)
    assert not await spend(acme, app.at(LATER))  # not confirmed: no code counts
    await acme.store.write(*start, code=None, **about)
    await acme.store.write(second_factors.confirm, acme.owner_id, app.at(NOW), sealer=SEALER, actor=OPERATOR, at=NOW)
    with pytest.raises(SecondFactorRequired):
        await acme.store.write(*start, code=None, **about)
    with pytest.raises(SecondFactorExists):
        await enrol(acme)
    await acme.store.write(*start, code=app.at(LATER), **about)
    await acme.store.write(second_factors.disable, acme.owner_id, actor=OPERATOR, at=LATER)
    await acme.store.write(*start, code=None, **about)

    log = await acme.store.read(audit.list_entries, acme.program_id)
    assert [entry.action for entry in log.data[:2]] == ["account.disable_second_factor", "account.enable_second_factor"]


async def test_a_code_counts_once_within_its_time_and_never_an_earlier_one(acme: World):
    app, _ = await turn_on(acme)

    assert not await spend(acme, app.at(NOW), NOW)  # the code that confirmed it
    assert not await spend(acme, app.at(LATER - timedelta(seconds=60)))
    assert not await spend(acme, app.at(LATER + timedelta(seconds=60)))
    assert await spend(acme, app.at(LATER))
    assert not await spend(acme, app.at(LATER))
    assert not await spend(acme, app.at(LATER - timedelta(seconds=30)))
    assert await spend(acme, app.at(LATER + timedelta(seconds=30)))


@both_databases
@pytest.mark.usefixtures("side_by_side")
async def test_of_requests_that_bring_one_code_together_one_is_accepted(acme: World):
    app, codes = await turn_on(acme)

    same = await asyncio.gather(*(spend(acme, app.at(LATER), lane=lane) for lane in range(4)))
    recovered = await asyncio.gather(*(spend(acme, codes[0], lane=lane) for lane in range(4)))

    assert sorted(same) == sorted(recovered) == [False, False, False, True]
    assert await spend(acme, codes[1].upper().replace("-", " "))


async def test_secrets_are_encrypted_and_recovery_codes_hashed(acme: World):
    app, codes = await turn_on(acme)

    rows = f"{await stored(acme, second_factor_rows)}{await stored(acme, recovery_codes)}"
    resealed = await acme.store.write(second_factors.reseal, Sealer("a new key", "a secret key"))

    assert app.secret not in rows
    assert not any(code in rows or code.replace("-", "") in rows for code in codes)
    assert len(set(codes)) == 10
    assert resealed == 1
    assert not await spend(acme, app.at(LATER))  # the old key alone no longer reads it
    about = {"sealer": Sealer("a new key"), "at": LATER}
    await acme.store.write(second_factors.spend, acme.owner_id, app.at(LATER), **about)
