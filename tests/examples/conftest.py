"""The service with Acme's program 1 at shop.example, and before it one that fails on request."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.async_api import Browser
from sqlalchemy import Connection, func, select

from storage import Storage
from storage.engine.audit import OPERATOR
from storage.management import program_settings
from storage.tables import leads, refunds, sales
from tests import failing, serving, world
from tests.examples import shop
from tests.examples.shop import Example, Shopper
from tests.failing import PASSES_ON, FailingService
from tests.serving import Served
from tests.test_journeys import stored
from tests.world import NOW, World


class Around(NamedTuple):
    """What a shop is in: Acme, the service, and what stands between the two."""

    acme: World
    served: Served
    between: FailingService


@pytest.fixture(scope="module")
def service(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Around]:
    """The service, what stands before it, and Acme's program, which is number 1."""
    path = shutil.copy(sqlite_template, tmp_path_factory.mktemp("service") / "svc.db")
    url = f"sqlite+aiosqlite:///{path}"
    acme = asyncio.run(stored(url, _acme))
    assert acme.program_id == 1
    with serving.in_a_thread(url) as served, failing.running(served.base_url) as between:
        yield Around(acme, served, between)


async def _acme(store: Storage) -> World:
    made = await world.acme(store)
    domains = {"domain": "shop.example", "further_domains": "checkout.example"}
    await store.write(program_settings.change, made.program_id, domains, actor=OPERATOR, at=NOW)
    return made


@pytest.fixture
async def shopper(service: Around, example: Example, browser: Browser) -> AsyncIterator[Shopper]:
    """A shopper; no page may throw."""
    service.between.answers = [PASSES_ON]
    service.between.received.clear()
    visiting = await shop.shopper(browser, example)
    yield visiting
    service.between.answers = [PASSES_ON]
    assert visiting.thrown == []


async def counts(service: Around) -> list[int]:
    """Return how many leads, sales and refunds are recorded."""

    def read(connection: Connection) -> list[int]:
        queries = [select(func.count()).select_from(table) for table in (leads, sales, refunds)]
        return [connection.execute(query).scalar_one() for query in queries]

    return await stored(service.served.database_url, lambda store: store.read(read))
