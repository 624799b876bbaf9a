"""Background tasks of the service: housekeeping, grouping and reviews. One process at a time runs what concerns all."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

from configuration import Configuration
from presentation import due_plans
from storage import Storage, tables
from storage.engine import database, recurring
from storage.management import fraud_review, plans
from storage.payments import decisions
from storage.reports import breakdown_increments
from storage.rules.errors import OutcomeUnknown, Overloaded, StorageUnavailable
from storage.tracking import click_retention, clicks, flagging, key_callers, rollups
from tracking_api.calls.visitors import agent_of
from tracking_api.portal import notices
from web import metrics

HOUR = timedelta(hours=1)
LOOK_SECONDS = 60  # between two looks whether an hourly task is due
REVIEW_SECONDS = 5
NODE_SECONDS = 5
GROUPING_SECONDS = 20
PLAN_SECONDS = 10
FIRST_REVIEW = timedelta(days=7)  # what happened while no process ran is reviewed after the start
OUTAGES = (StorageUnavailable, OutcomeUnknown, Overloaded)
log = logging.getLogger(__name__)


async def _run_housekeeping(store: Storage) -> None:
    """Make months ahead, prune expired rows and fill old clicks, every hour in one process."""
    while True:
        at = datetime.now(UTC)
        async with turn(store, "housekeeping", every=HOUR, at=at) as mine:
            if mine:
                with _failures_logged("housekeeping"):
                    await keep_house(store, at=at)
        await asyncio.sleep(LOOK_SECONDS)


@asynccontextmanager
async def turn(store: Storage, task: str, *, every: timedelta, at: datetime) -> AsyncIterator[datetime | None]:
    """Give this process the turn if a task is due and no other process runs it, and keep it while the block runs."""

    async def renew() -> None:
        while True:
            await asyncio.sleep(every.total_seconds() / 2)
            with suppress(*OUTAGES):
                await store.write(recurring.renew, task, at=datetime.now(UTC))

    claimed: datetime | None = None
    with suppress(*OUTAGES):  # the next look is soon
        claimed = await store.write(recurring.claim, task, every=every, at=at)
    async with beside(*([renew()] if claimed else [])):
        yield claimed


@asynccontextmanager
async def beside(*work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Run tasks while the block runs, and end them with it."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)  # suppressing CancelledError around each would also suppress the caller's own


async def _watch_databases(store: Storage) -> None:
    """Measure every second how far the replica lags behind; every few seconds ask which nodes of a cluster respond."""
    for second in count():
        if store.replica is not None:
            with suppress(*OUTAGES):  # an outage is logged where it is noticed
                await store.measure_replica(at=datetime.now(UTC))
        if second % NODE_SECONDS == 0:
            with suppress(*OUTAGES):
                await store.watch_nodes()
        await asyncio.sleep(1)


async def keep_house(store: Storage, *, at: datetime) -> None:
    """Do what is due, each chunk in its own write. A failure is logged; the next round tries again."""
    with _failures_logged("making months of clicks"):
        if made := await store.write(click_retention.make_ahead, at=at):
            log.info("made %s", ", ".join(made))
    for name in recurring.EXPIRED:
        chunk = partial(store.write, recurring.prune, tables.metadata.tables[name], at=at)
        await _in_chunks(f"pruning {name}", chunk, recurring.ROWS_AT_ONCE)
    with _failures_logged("waiting payments"):
        for program_id in await store.read(decisions.late_programs, at=at):
            chunk = partial(store.write_in, program_id, decisions.record_late, program_id, at=at)
            await _in_chunks("waiting payments", chunk, decisions.AT_ONCE)
    chunk = partial(store.write, clicks.fill_dimensions, agent_of)
    await _in_chunks("filling the dimensions of clicks", chunk, clicks.FILLED_AT_ONCE)


async def _in_chunks(task: str, chunk: Callable[[], Awaitable[int]], at_once: int) -> None:
    with _failures_logged(task):
        while await chunk() >= at_once:
            log.info("%s: a chunk is done, the next one follows", task)


async def _run_reviews(store: Storage) -> None:
    """Look for signs of fraud: every few seconds about this process's commissions, every hour in one about all."""
    since = next_look = datetime.now(UTC)
    while True:
        at = datetime.now(UTC)
        await review_all(store, since=since, at=at, is_whole=False)
        since = at - timedelta(seconds=2 * REVIEW_SECONDS)
        look = timedelta(seconds=LOOK_SECONDS)
        if not at < next_look <= at + look:  # due, or a clock was ahead
            next_look, first = at + look, at - FIRST_REVIEW
            async with turn(store, "fraud review", every=HOUR, at=at) as mine:
                if mine:
                    await review_all(store, since=max(mine - look, first), at=at, is_whole=True)
        await asyncio.sleep(REVIEW_SECONDS)


async def review_all(store: Storage, *, since: datetime, at: datetime, is_whole: bool) -> None:
    """Flag what the rules find in programs with new events; unless `is_whole`, in those that this process wrote to."""
    written = store.take_written()
    if not (is_whole or written):
        return
    with _failures_logged("the fraud review"):
        active = await store.read(fraud_review.active_programs, since=since)
        for program_id in active if is_whole else written.intersection(active):
            if is_whole:
                if floods := await store.read(fraud_review.find_floods, program_id, at=at):
                    await store.write_in(program_id, fraud_review.drop_floods, program_id, floods)
                found = await store.read(fraud_review.whole, program_id, since=since, at=at)
            else:
                found = await store.read(fraud_review.recent, program_id, since=since)
            if found:
                findings = [(program_id, each) for each in found]
                await store.write_in(program_id, flagging.raise_each, findings, at=at)


async def _run_grouping(store: Storage) -> None:
    """Add up the new events of large programs by dimension in one process; store in each who used a key."""
    while True:
        await group_in_turn(store, at=datetime.now(UTC))
        await save_callers(store)
        await asyncio.sleep(GROUPING_SECONDS)


async def group_in_turn(store: Storage, *, at: datetime) -> None:
    """Group events if it is due and no other process does."""
    async with turn(store, "grouping", every=timedelta(seconds=GROUPING_SECONDS), at=at) as mine:
        if mine:
            with _failures_logged("analyzing new tables"):  # the next writes are planned for what is in them
                if names := await store.write(database.analyze_new_tables):
                    log.info("analyzed %s", ", ".join(names))
            await group_all(store)


async def group_all(store: Storage, *, at: datetime | None = None) -> None:
    """Group what can be grouped now, or at the time `at`, a step at a time."""
    with _failures_logged("grouping events by dimension"):
        for program_id in await store.read(breakdown_increments.list_programs):
            while step := await store.read(breakdown_increments.next_step, program_id, at=at or datetime.now(UTC)):
                if not await store.write_in(program_id, rollups.save_by_dimension, step):
                    break  # another process stored a step first


async def save_callers(store: Storage) -> None:
    """Store who called with a key since the last time; an outage loses these counts."""
    if counts := store.callers.take():
        with _failures_logged("storing who uses a key"):
            await store.write(key_callers.save, counts)


async def mail_partners(store: Storage, settings: Configuration) -> None:
    """Send partners the e-mails that are due, every minute in one process, where the server sends e-mail."""
    while settings.smtp_url is not None:
        at = datetime.now(UTC)
        async with turn(store, "e-mails to partners", every=timedelta(seconds=LOOK_SECONDS), at=at) as mine:
            if mine:
                with _failures_logged("e-mails to partners"):
                    while await notices.send_due(store, settings, at=at):
                        pass
        await asyncio.sleep(LOOK_SECONDS)


async def run_plans(store: Storage, app: Any) -> None:
    """Apply scheduled plans every few seconds, in whichever process locks one first."""
    while True:
        await apply_plans(store, app, at=datetime.now(UTC))
        await asyncio.sleep(PLAN_SECONDS)


async def apply_plans(store: Storage, app: Any, *, at: datetime) -> None:
    """Apply the plans whose time has come, each in its own write; `app` has what their actions need."""
    with _failures_logged("scheduled plans"):
        for program_id, plan_id in await store.read(plans.list_due, at=at):
            with _failures_logged("a scheduled plan"):
                await due_plans.apply_due(store, app, program_id, plan_id, at=at)


@contextmanager
def _failures_logged(task: str) -> Iterator[None]:
    """Log what fails in a background task, in one line during an outage; the task's next round tries again."""
    failed = True
    try:
        yield
        failed = False
    except OUTAGES:
        log.warning("%s could not reach storage and tries again in the next round", task)
    except Exception:
        log.exception("%s failed", task)
    finally:
        metrics.count_round(task, failed=failed)


TASKS = (_run_housekeeping, _run_reviews, _run_grouping, _watch_databases)
