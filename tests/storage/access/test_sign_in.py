"""Signing in: accepted passwords, second factors whose codes count once, and device logins."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

import pyotp
import pytest
from argon2 import PasswordHasher

from storage.access import device_logins, passwords, second_factors, sessions
from storage.engine import recurring
from storage.engine.audit import OPERATOR, By
from storage.engine.sealing import Sealer, reseal
from storage.lists.audit_log import AUDIT_LOG
from storage.rules import errors, keys
from storage.tables import device_logins as logins
from storage.tables import recovery_codes
from storage.tables import second_factors as second_factor_rows
from tests.world import BY, NOW, SEALER, SECRET, World, stored


@pytest.mark.parametrize(
    "password", ["nine char", "x" * 513, "1234567890", "Password123!", "aaaaaaaaaaaa", "olga@acme.example"]
)
def test_a_short_or_common_password_is_rejected_by_name_of_its_field(password: str):
    with pytest.raises(errors.ValidationError) as rejection:
        passwords.protect_new(password, email="olga@acme.example", field="new_password")

    assert [field.field for field in rejection.value.fields] == ["new_password"]
    assert password not in rejection.value.fields[0].message


def test_a_long_uncommon_password_is_accepted_and_earlier_hashes_and_shorter_passwords_still_match():
    for password in ("x9$kQ2!mZp", "lighthouse " * 40 + "end"):
        assert passwords.matches(passwords.protect_new(password, email="olga@acme.example"), password)
    earlier = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4).hash("8 letter")

    assert passwords.matches(earlier, "8 letter")
    assert not passwords.matches(earlier, "8 lettes")
    assert passwords.protect("x").startswith("$argon2id$")


LATER = NOW + timedelta(minutes=5)


async def enrol(acme: World) -> Any:
    return await acme.store.write(second_factors.enrol, acme.owner_id, email="owner@acme.example", sealer=SEALER)


async def turn_on(acme: World) -> tuple[pyotp.TOTP, list[str]]:
    app = pyotp.TOTP((await enrol(acme)).secret)
    return app, await acme.store.write(second_factors.confirm, acme.owner_id, app.at(NOW), sealer=SEALER, by=BY)


async def spend(acme: World, code: str, at: Any = LATER, lane: int = 0) -> bool:
    try:
        await acme.store.write_in(lane, second_factors.spend, acme.owner_id, code, sealer=SEALER, at=at)
    except errors.InvalidSecondFactor:
        return False
    return True


async def test_it_is_on_once_a_code_is_confirmed_and_off_when_disabled(acme: World):
    app = pyotp.TOTP((await enrol(acme)).secret)
    account = await acme.store.read(sessions.account, "owner@acme.example")
    write: Any = acme.store.write
    start = partial(write, second_factors.sign_in, account)
    about: dict[str, Any] = {"sealer": SEALER, "client": None, "at": LATER}

    assert not await acme.store.read(second_factors.is_on, acme.owner_id)
    assert not await spend(acme, app.at(LATER))  # not confirmed: no code counts
    await start(code=None, **about)
    await acme.store.write(second_factors.confirm, acme.owner_id, app.at(NOW), sealer=SEALER, by=BY)
    with pytest.raises(errors.SecondFactorRequired):
        await start(code=None, **about)
    with pytest.raises(errors.SecondFactorExists):
        await enrol(acme)
    await start(code=app.at(LATER), **about)
    await acme.store.write(second_factors.disable, acme.owner_id, by=By(OPERATOR, LATER))
    await start(code=None, **about)

    log = await acme.listed(AUDIT_LOG)
    assert [entry.action for entry in log.data[:2]] == ["account.disable_second_factor", "account.enable_second_factor"]


async def test_a_code_counts_once_within_its_time_and_never_an_earlier_one(acme: World):
    app, _ = await turn_on(acme)

    assert not await spend(acme, app.at(NOW), NOW)  # the code that confirmed it
    for seconds, counts in ((-60, False), (60, False), (0, True), (0, False), (-30, False), (30, True)):
        assert await spend(acme, app.at(LATER + timedelta(seconds=seconds))) == counts, seconds


@pytest.mark.both_databases
@pytest.mark.usefixtures("side_by_side")
async def test_of_requests_that_bring_one_code_of_their_own_account_together_one_is_accepted(acme: World):
    app, codes = await turn_on(acme)
    max_id = await acme.join()

    with pytest.raises(errors.InvalidSecondFactor):
        await acme.store.write(second_factors.spend, max_id, codes[0], sealer=SEALER, at=LATER)
    same = await asyncio.gather(*(spend(acme, app.at(LATER), lane=lane) for lane in range(4)))
    recovered = await asyncio.gather(*(spend(acme, codes[0], lane=lane) for lane in range(4)))

    assert sorted(same) == sorted(recovered) == [False, False, False, True]
    assert await spend(acme, codes[1].upper().replace("-", " "))


async def test_secrets_are_encrypted_and_recovery_codes_hashed(acme: World):
    app, codes = await turn_on(acme)

    rows = f"{await stored(acme, second_factor_rows)}{await stored(acme, recovery_codes)}"
    columns = {"secrets": second_factor_rows.c.sealed_secret}
    resealed = await acme.store.write(reseal, Sealer("a new key", SECRET), columns)

    assert app.secret not in rows
    assert not any(code in rows or code.replace("-", "") in rows for code in codes)
    assert len(set(codes)) == 10
    assert resealed == {"secrets": 1}
    assert not await spend(acme, app.at(LATER))  # the old key alone no longer reads it
    about: dict[str, Any] = {"sealer": Sealer("a new key"), "at": LATER}
    await acme.store.write(second_factors.spend, acme.owner_id, app.at(LATER), **about)


async def ask(acme: World) -> Any:
    return await acme.store.write(device_logins.ask, client="svc on a laptop", at=NOW)


async def decide(acme: World, user_code: str, *, approved: bool = True, at: Any = NOW) -> None:
    await acme.store.write(device_logins.decide, user_code, user_id=acme.owner_id, approved=approved, at=at)


async def poll(acme: World, device_code: str, at: Any = NOW) -> Any:
    """Return the session, or the rejection."""
    try:
        return await acme.store.write(device_logins.poll, device_code, at=at)
    except errors.ServiceError as rejection:
        return rejection


async def test_an_approved_login_is_a_session_once_and_a_rejected_one_stays_rejected(acme: World):
    asked, rejected = await ask(acme), await ask(acme)
    await decide(acme, asked.user_code.lower())
    await decide(acme, rejected.user_code, approved=False)

    codes = (asked.user_code, asked.device_code, asked.device_code, rejected.device_code)
    guessed, started, again, denied = [await poll(acme, code) for code in codes]

    assert isinstance(started, sessions.Started)
    visitor = await acme.store.read(sessions.identify, keys.digest(started.token), at=NOW)
    assert visitor.user_id == acme.owner_id
    assert (type(guessed), type(again), type(denied)) == (*[errors.ExpiredToken] * 2, errors.AccessDenied)
    with pytest.raises(errors.NotFound):
        await decide(acme, rejected.user_code)
    with pytest.raises(errors.NotFound):
        await acme.store.read(device_logins.find, "BBBB-BBBB", at=NOW)


async def test_a_device_that_polls_too_often_gets_slow_down_until_its_login_expires(acme: World):
    asked = await ask(acme)

    polls = [NOW + timedelta(seconds=after) for after in (2, 2, 6, 18)]  # every two, every seven, every twelve seconds
    answers = [await poll(acme, asked.device_code, at) for at in polls]

    pending, slow_down = errors.AuthorizationPending, errors.SlowDown
    assert [type(answer) for answer in answers] == [pending, slow_down, slow_down, pending]
    late = NOW + device_logins.LIFETIME

    with pytest.raises(errors.NotFound):
        await decide(acme, asked.user_code, at=late)
    assert isinstance(await poll(acme, asked.device_code, late), errors.ExpiredToken)
    assert await acme.store.write(recurring.prune, logins, at=late - timedelta(seconds=1)) == 0
    assert await acme.store.write(recurring.prune, logins, at=late) == 1
