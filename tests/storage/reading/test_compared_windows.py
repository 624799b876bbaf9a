"""A report can be compared with any window: also with one that does not end where the report starts."""

from datetime import timedelta

from storage.reading import performance
from storage.rules.period import DateRangeQuery, Window
from tests.world import NOW, World


async def test_a_window_is_compared_with_one_that_is_not_just_before_it(acme: World):
    for n in range(6):
        await acme.visitor(at=NOW + timedelta(days=n))
    last = (NOW + timedelta(days=5)).date()
    wanted = DateRangeQuery(None, last.isoformat(), last.isoformat())
    far = Window(NOW.date(), NOW.date() + timedelta(days=1))

    report = await acme.store.read(performance.get_report, acme.program_id, wanted, at=NOW, before=far)

    assert (report.current.clicks, report.previous.clicks, report.previous_window) == (1, 2, far)
