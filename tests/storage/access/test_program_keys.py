"""Program keys: replaced, imported, flagged, and stored as their hashes."""

from datetime import datetime, timedelta

import pytest

from storage.access import program_keys
from storage.rules import keys
from storage.rules.errors import ApiKeyRotationRequired, CustomerNotFound, InvalidKey, ValidationError
from storage.tables import program_keys as table
from storage.tables import refused_calls
from storage.tracking import rejection_log
from storage.tracking.principals import reject
from storage.tracking.rejection_log import CallDetails
from tests.world import NOW, World, stored

DEADLINE = NOW + timedelta(days=7)


async def works(acme: World, secret: str, at: datetime = NOW) -> int:
    key = await acme.store.read(program_keys.authenticate, keys.digest(secret), at=at)
    return key.program_id


async def test_nothing_stored_contains_the_key(acme: World):
    rows = str(await stored(acme, table))

    assert acme.key not in rows
    assert keys.digest(acme.key) in rows


async def test_a_key_from_before_the_prefix_works_by_exact_match_and_no_weak_one_is_imported(acme: World):
    await acme.store.write(program_keys.import_key, acme.program_id, "legacy-key-of-2019-abcdef", at=NOW)

    assert await works(acme, "legacy-key-of-2019-abcdef") == acme.program_id
    with pytest.raises(InvalidKey):
        await works(acme, "legacy-key-of-2019-abcdeF")
    for weak in ("short", "with a blank in the middle", "ünprintable-secret-key"):
        with pytest.raises(ValidationError):
            await acme.store.write(program_keys.import_key, acme.program_id, weak, at=NOW)


async def test_a_flagged_key_works_until_its_deadline_and_a_new_one_replaces_it_at_once(acme: World):
    await acme.store.write(program_keys.flag, acme.program_id, rotate_by=DEADLINE, at=NOW)

    assert await works(acme, acme.key, DEADLINE - timedelta(seconds=1)) == acme.program_id
    with pytest.raises(ApiKeyRotationRequired):
        await works(acme, acme.key, DEADLINE)
    new = await acme.store.write(program_keys.regenerate, acme.program_id, at=DEADLINE)
    assert await works(acme, new.secret, DEADLINE) == acme.program_id
    with pytest.raises(InvalidKey):
        await works(acme, acme.key)


async def test_calls_with_the_old_key_appear_in_the_programs_refused_calls_for_thirty_days(acme: World):
    await acme.store.write(program_keys.regenerate, acme.program_id, at=NOW)
    details = CallDetails("sale", "request-1", NOW, transaction_id="inv-1")

    outcome = await acme.store.handle(reject, CustomerNotFound(), principal=acme.principal, details=details)

    row = refused_calls.c
    assert (outcome.result.code, outcome.key) == ("invalid_key", None)
    assert await stored(acme, row.program_id, row.code, row.transaction_id) == [
        (acme.program_id, "invalid_key", "inv-1")
    ]
    early = await acme.store.write(rejection_log.prune, at=NOW + timedelta(days=30))
    late = await acme.store.write(rejection_log.prune, at=NOW + timedelta(days=30, seconds=1))
    assert (early, late) == (0, 1)
