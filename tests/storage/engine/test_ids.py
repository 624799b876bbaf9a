"""Event ids ascend, never repeat in a process, and fit JSON's integers."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from storage.engine import ids


def test_ids_ascend_even_if_the_clock_is_set_back():
    later = ids.after(datetime(2026, 5, 20, tzinfo=UTC), 3)

    earlier = ids.after(datetime(2025, 5, 20, tzinfo=UTC), 3)

    assert [*later, *earlier] == sorted({*later, *earlier})


def test_threads_never_share_an_id():
    at = datetime(2026, 5, 20, tzinfo=UTC)

    with ThreadPoolExecutor(8) as threads:
        given = [n for batch in threads.map(lambda _: list(ids.after(at, 50)), range(40)) for n in batch]

    assert len(set(given)) == 2_000


def test_ids_are_exact_in_json_until_the_year_2300():
    assert ids.first(datetime(2300, 1, 1, tzinfo=UTC)) < 2**53
