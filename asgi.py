"""The composition root: it opens storage and mounts the apps over it. Only this module imports every app."""

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime, timedelta

from starlette.types import ASGIApp, Receive, Scope, Send

import agent_api.app
import configuration
import mcp_server.app
import storage
import tracking_api.app
from configuration import Configuration
from storage import Storage
from storage.access import assistant_clients, assistant_tokens, device_logins, idempotency, invitations, sessions
from storage.engine import committed_batches, pruning, recurring
from storage.engine.recurring import TaskTurn
from storage.management import flags, fraud_review
from storage.payments import late_leads
from storage.reading import ungrouped
from storage.rules.errors import OutcomeUnknown, Overloaded, StorageUnavailable
from storage.tracking import click_dimensions, dimension_rollups, handovers, key_callers, rejection_log, test_mode
from tracking_api.calls.user_agents import agent_of
from web import measures, metrics, tracing
from web.counts import Counts
from web.middleware import RequestMiddleware

HOUSEKEEPING_SECONDS = 3600
LOOK_SECONDS = 60  # between two looks whether an hourly task is due
REVIEW_SECONDS = 5
LAG_SECONDS = 1
GROUPING_SECONDS = 20
FIRST_REVIEW = timedelta(days=7)  # what happened while no process ran is reviewed after the start
PRUNES = (
    rejection_log.prune,
    sessions.prune,
    invitations.prune,
    device_logins.prune,
    idempotency.prune,
    assistant_tokens.prune,
    assistant_clients.prune,
    committed_batches.prune,
    test_mode.prune,
    handovers.prune,
    key_callers.prune,
)
log = logging.getLogger(__name__)


class Service:
    """The ASGI app: one lifespan that opens storage, then each request goes to the app with the prefix of its path."""

    def __init__(self, config: Configuration | None = None) -> None:
        self._config = config  # None: read from the environment when the lifespan starts
        self._is_https = False
        self._mounts: list[tuple[str, ASGIApp]] = []  # path prefix and app, the first that fits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the lifespan or one request."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            if self._is_https:
                scope["scheme"] = "https"  # also behind a proxy that does not say so
            path = scope["path"]
            for prefix, app in self._mounts:
                if path.startswith(prefix):
                    await app(scope, receive, send)
                    break

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            async with self.opened():
                await send({"type": "lifespan.startup.complete"})
                await receive()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            raise
        await send({"type": "lifespan.shutdown.complete"})

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Storage]:
        """Open storage, mount the apps and start housekeeping. Closing drains every accepted write."""
        config = self._config or configuration.load()
        self._is_https = config.base_url.startswith("https://")
        async with (
            storage.opened(config.database_url, replica_url=config.read_database_url) as store,
            aclosing(Counts(config.redis_url)) as counts,
            mcp_server.app.serving(store.reader, config, counts=counts) as mcp,
        ):
            registry = metrics.registry(store.measures)
            endpoint = metrics.MetricsEndpoint(registry, config.metrics_token) if config.metrics_token else None
            self._mounts = [
                *([(metrics.PATH, endpoint)] if endpoint else []),
                ("/api/agent/", agent_api.app.create(store, base_url=config.base_url)),
                ("/mcp", mcp),
                ("/llms.txt", mcp),
                ("", tracking_api.app.create(store, config, counts=counts, others=agent_api.app.ROUTES)),
            ]
            background = (_run_housekeeping, _run_reviews, _run_grouping, _measure_replica)
            tasks = [asyncio.create_task(run(store)) for run in background]
            _settle_memory()
            try:
                with metrics.served(registry, host=config.metrics_host, port=config.metrics_port):
                    yield store
            finally:
                for task in tasks:
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task


async def _run_housekeeping(store: Storage) -> None:
    """Prune expired rows and fill old clicks, every hour in one process."""
    while True:
        at = datetime.now(UTC)
        if await _claimed(store, "housekeeping", at=at):
            await prune_all(store, at=at)
            await record_waiting_payments(store, at=at)
            await fill_clicks(store)
        await asyncio.sleep(LOOK_SECONDS)


async def _claimed(store: Storage, task: str, *, at: datetime) -> TaskTurn | None:
    """Return the turn if an hourly task is due and no other process runs it."""
    turn: TaskTurn | None = None
    with suppress(StorageUnavailable, OutcomeUnknown, Overloaded):  # the next look is soon
        turn = await store.write(recurring.claim, task, every=timedelta(seconds=HOUSEKEEPING_SECONDS), at=at)
    return turn


async def _measure_replica(store: Storage) -> None:
    """Measure every second how far the replica lags behind, if there is one."""
    while store.has_replica:
        with suppress(StorageUnavailable, OutcomeUnknown, Overloaded):  # an outage is logged where it is noticed
            await store.measure_replica(at=datetime.now(UTC))
        await asyncio.sleep(LAG_SECONDS)


async def prune_all(store: Storage, *, at: datetime) -> None:
    """Delete every expired row, each chunk in its own write. A failure is logged; the next round tries again."""
    for prune in PRUNES:
        with _failures_logged("housekeeping"):
            while await store.write(prune, at=at) >= pruning.ROWS_AT_ONCE:
                log.info("pruned a chunk; the next one follows")


async def record_waiting_payments(store: Storage, *, at: datetime) -> None:
    """Record the payments whose customer's lead has arrived since, each chunk in its own write."""
    with _failures_logged("waiting payments"):
        while await store.write(late_leads.record_waiting, at=at) >= late_leads.AT_ONCE:
            log.info("recorded a chunk of waiting payments; the next one follows")


async def fill_clicks(store: Storage) -> None:
    """Fill the dimensions of clicks that have none, each chunk in its own write. A failure waits for the next round."""
    with _failures_logged("filling the dimensions of clicks"):
        while await store.write(click_dimensions.fill, agent_of) >= click_dimensions.ROWS_AT_ONCE:
            log.info("filled the dimensions of a chunk of clicks; the next one follows")


async def _run_reviews(store: Storage) -> None:
    """Look for signs of fraud: every few seconds about this process's commissions, every hour in one about all."""
    since = next_look = datetime.now(UTC)
    while True:
        at = datetime.now(UTC)
        await review_all(store, since=since, at=at, is_whole=False)
        since = at - timedelta(seconds=2 * REVIEW_SECONDS)
        if at >= next_look:
            next_look = at + timedelta(seconds=LOOK_SECONDS)
            if turn := await _claimed(store, "fraud review", at=at):
                last = turn.previous_at - timedelta(seconds=LOOK_SECONDS) if turn.previous_at else at - FIRST_REVIEW
                await review_all(store, since=max(last, at - FIRST_REVIEW), at=at, is_whole=True)
        await asyncio.sleep(REVIEW_SECONDS)


async def review_all(store: Storage, *, since: datetime, at: datetime, is_whole: bool) -> None:
    """Flag what the rules find: in every program, or (unless `is_whole`) in those that were written to."""
    written = store.take_written()
    if not (is_whole or written):
        return
    with _failures_logged("the fraud review"):
        for program_id in await store.read(fraud_review.all_programs):
            if is_whole:
                found = await store.read(fraud_review.whole, program_id, since=since, at=at)
            elif program_id in written:
                found = await store.read(fraud_review.recent, program_id, since=since)
            else:
                continue
            if found:
                await store.write(flags.raise_flags, program_id, found, at=at, lane=program_id)


async def _run_grouping(store: Storage) -> None:
    """Add up the new events of large programs by dimension, and store who used a key, every few seconds."""
    while True:
        await group_all(store)
        await save_callers(store)
        await asyncio.sleep(GROUPING_SECONDS)


async def group_all(store: Storage, *, at: datetime | None = None) -> None:
    """Group what can be grouped now, or at the time `at`, a step at a time."""
    with _failures_logged("grouping events by dimension"):
        for program_id in await store.read(ungrouped.list_programs):
            while step := await store.read(ungrouped.next_step, program_id, at=at or datetime.now(UTC)):
                if not await store.write(dimension_rollups.save, step, lane=program_id):
                    break  # another process groups this program


async def save_callers(store: Storage) -> None:
    """Store who called with a key since the last time; an outage loses these counts."""
    if counts := store.callers.take():
        with _failures_logged("storing who uses a key"):
            await store.write(key_callers.save, counts)


@contextmanager
def _failures_logged(task: str) -> Iterator[None]:
    """Log what fails in a background task, in one line during an outage; the task's next round tries again."""
    failed = True
    try:
        yield
        failed = False
    except (StorageUnavailable, OutcomeUnknown, Overloaded):
        log.warning("%s could not reach storage and tries again in the next round", task)
    except Exception:
        log.exception("%s failed", task)
    finally:
        measures.count_round(task, failed=failed)


def _settle_memory() -> None:
    """Exclude the objects of start-up from garbage collection, for fewer and shorter pauses."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


app = tracing.traced(RequestMiddleware(Service()))
