"""Device logins: approved once, by one member, for a quarter of an hour."""

from datetime import timedelta
from typing import Any

import pytest

from storage.access import device_logins, sessions
from storage.access.device_logins import LIFETIME, DeviceCodes
from storage.access.sessions import Started
from storage.rules import keys
from storage.rules.errors import AccessDenied, AuthorizationPending, ExpiredToken, NotFound, ServiceError, SlowDown
from tests.world import NOW, World


async def ask(acme: World) -> DeviceCodes:
    asked: DeviceCodes = await acme.store.write(device_logins.ask, client="svc on a laptop", at=NOW)
    return asked


async def decide(acme: World, user_code: str, *, approved: bool = True, at: Any = NOW) -> None:
    await acme.store.write(device_logins.decide, user_code, user_id=acme.owner_id, approved=approved, at=at)


async def poll(acme: World, device_code: str, at: Any = NOW) -> Any:
    """Return the session, or the rejection."""
    try:
        return await acme.store.write(device_logins.poll, device_code, at=at)
    except ServiceError as rejection:
        return rejection


async def test_an_approved_login_is_a_session_once_and_a_rejected_one_stays_rejected(acme: World):
    asked, rejected = await ask(acme), await ask(acme)
    await decide(acme, asked.user_code.lower())
    await decide(acme, rejected.user_code, approved=False)

    codes = (asked.user_code, asked.device_code, asked.device_code, rejected.device_code)
    guessed, started, again, denied = [await poll(acme, code) for code in codes]

    assert isinstance(started, Started)
    visitor = await acme.store.read(sessions.identify, keys.digest(started.token), at=NOW)
    assert visitor.user_id == acme.owner_id
    assert [type(each) for each in (guessed, again, denied)] == [ExpiredToken, ExpiredToken, AccessDenied]
    with pytest.raises(NotFound):
        await decide(acme, rejected.user_code)
    with pytest.raises(NotFound):
        await acme.store.read(device_logins.find, "BBBB-BBBB", at=NOW)


async def test_a_device_that_polls_too_often_gets_slow_down(acme: World):
    asked = await ask(acme)

    polls = [NOW + timedelta(seconds=after) for after in (2, 2, 6, 18)]  # every two, every seven, every twelve seconds
    answers = [await poll(acme, asked.device_code, at) for at in polls]

    assert [type(answer) for answer in answers] == [AuthorizationPending, SlowDown, SlowDown, AuthorizationPending]


async def test_a_login_expires(acme: World):
    asked = await ask(acme)
    late = NOW + LIFETIME

    with pytest.raises(NotFound):
        await decide(acme, asked.user_code, at=late)
    assert isinstance(await poll(acme, asked.device_code, late), ExpiredToken)
    assert await acme.store.write(device_logins.prune, at=late - timedelta(seconds=1)) == 0
    assert await acme.store.write(device_logins.prune, at=late) == 1
