"""Program keys, on both databases."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from storage.access import program_keys
from storage.rules import keys
from storage.rules.errors import ApiKeyRotationRequired, CustomerNotFound, InvalidKey, ValidationError
from storage.tables import program_keys as table
from storage.tables import refused_calls
from storage.tracking import rejection_log
from storage.tracking.principals import reject
from storage.tracking.rejection_log import CallDetails
from tests.world import NOW, World

DEADLINE = NOW + timedelta(days=7)


async def works(acme: World, secret: str, at: datetime = NOW) -> int:
    key = await acme.store.read(program_keys.authenticate, keys.digest(secret), at=at)
    return key.program_id


async def test_a_regenerated_key_replaces_the_old_one_at_once(acme: World):
    new = await acme.store.write(program_keys.regenerate, acme.program_id, at=NOW)

    assert await works(acme, new.secret) == acme.program_id
    with pytest.raises(InvalidKey):
        await works(acme, acme.key)


async def test_nothing_stored_contains_the_key(acme: World):
    stored = await acme.store.read(lambda connection: str(connection.execute(select(table)).all()))

    assert acme.key not in stored
    assert keys.digest(acme.key) in stored


async def test_a_key_from_before_the_prefix_works_by_exact_match(acme: World):
    await acme.store.write(program_keys.import_key, acme.program_id, "legacy-key-of-2019-abcdef", at=NOW)

    assert await works(acme, "legacy-key-of-2019-abcdef") == acme.program_id
    with pytest.raises(InvalidKey):
        await works(acme, "legacy-key-of-2019-abcdeF")


@pytest.mark.parametrize("secret", ["short", "with a blank in the middle", "ünprintable-secret-key"])
async def test_a_weak_key_cannot_be_imported(acme: World, secret: str):
    with pytest.raises(ValidationError):
        await acme.store.write(program_keys.import_key, acme.program_id, secret, at=NOW)


async def test_a_flagged_key_works_until_its_deadline_and_regenerating_clears_the_flag(acme: World):
    await acme.store.write(program_keys.flag, acme.program_id, rotate_by=DEADLINE, at=NOW)

    assert await works(acme, acme.key, DEADLINE - timedelta(seconds=1)) == acme.program_id
    with pytest.raises(ApiKeyRotationRequired):
        await works(acme, acme.key, DEADLINE)
    new = await acme.store.write(program_keys.regenerate, acme.program_id, at=DEADLINE)
    assert await works(acme, new.secret, DEADLINE) == acme.program_id


async def test_calls_with_the_old_key_appear_in_the_programs_refused_calls(acme: World):
    await acme.store.write(program_keys.regenerate, acme.program_id, at=NOW)
    details = CallDetails("sale", "request-1", NOW, transaction_id="inv-1")

    outcome = await acme.store.handle(reject, CustomerNotFound(), principal=acme.principal, details=details)

    row = refused_calls.c
    logged = await acme.store.read(
        lambda connection: [
            tuple(row) for row in connection.execute(select(row.program_id, row.code, row.transaction_id))
        ]
    )
    assert (outcome.result.code, outcome.key) == ("invalid_key", None)
    assert logged == [(acme.program_id, "invalid_key", "inv-1")]


async def test_refused_calls_are_deleted_after_thirty_days(acme: World):
    await acme.reject(CustomerNotFound())

    early = await acme.store.write(rejection_log.prune, at=NOW + timedelta(days=30))
    late = await acme.store.write(rejection_log.prune, at=NOW + timedelta(days=30, seconds=1))

    assert (early, late) == (0, 1)
