"""The Django example, made of the guides' snippets: shoppers in Chromium, and a service that fails under them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.examples import shop
from tests.examples.conftest import Around, counts
from tests.examples.shop import EXAMPLES, Example, Shopper
from tests.failing import CUTS, HANGS
from tests.test_journeys import regenerate

FOLDER = EXAMPLES / "django"


@pytest.fixture(scope="module")
def project(service: Around, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the store's database, and with `.svc/.env` as `svc init` writes it."""
    folder = tmp_path_factory.mktemp("django")
    configure(folder, service, service.acme.key)
    command = [sys.executable, str(FOLDER / "manage.py"), "migrate", "-v0"]
    subprocess.run(command, cwd=folder, check=True, env=os.environ | {"DATABASE": "shop.sqlite3"})
    return folder


def configure(folder: Path, service: Around, key: str) -> None:
    """Write `.svc/.env`."""
    values = {"SERVICE_API_KEY": key, "SERVICE_PROGRAM_ID": "1", "SERVICE_BASE_URL": service.between.base_url}
    (folder / ".svc").mkdir(exist_ok=True)
    (folder / ".svc/.env").write_text("".join(f"{name}={value}\n" for name, value in values.items()))


def start(project: Path, log: str = "log") -> AbstractContextManager[Example]:
    """Start the store."""
    command = [sys.executable, "-u", str(FOLDER / "manage.py"), "runserver", "--noreload", "127.0.0.1:PORT"]
    return shop.running(command, "Starting development server", cwd=project, log=project / log, DATABASE="shop.sqlite3")


@pytest.fixture(scope="module")
def example(project: Path) -> Iterator[Example]:
    """The store, running."""
    with start(project) as running:
        yield running


async def test_an_ordinary_visitor_signs_up_and_buys(service: Around, shopper: Shopper):
    before = await counts(service)

    await shopper.sign_up()
    await shopper.pay()

    assert service.between.bodies("lead") == []
    assert await counts(service) == before
    assert "affiliate" not in shopper.example.log


async def test_a_referred_visitor_tries_buys_and_gets_a_refund(service: Around, shopper: Shopper):
    before = await counts(service)
    click_id = await shopper.arrive("anna")
    user = await shopper.sign_up()
    await shopper.page.click("text=Start the trial")
    await shopper.page.wait_for_selector("#plan:has-text('trial')")
    assert service.between.bodies("sale") == []

    order = await shopper.pay()
    await shopper.refund()

    (lead,), (sale,), (refund,) = (service.between.bodies(call) for call in ("lead", "sale", "refund"))
    assert (lead["click_id"], lead["customer_key"]) == (click_id, user)
    assert (sale["customer_key"], sale["transaction_id"], refund["transaction_id"]) == (user, order, order)
    assert await counts(service) == [each + 1 for each in before]
    assert [each["value"] for each in await shopper.context.cookies() if each["name"] == "svc_click_id"] == [click_id]


async def test_a_guest_s_sale_is_recorded_by_the_click(service: Around, shopper: Shopper):
    leads, sales, refunds = await counts(service)
    await shopper.arrive("ben")

    await shopper.page.click("text=Buy as a guest")
    await shopper.page.wait_for_selector("text=Thank you")

    assert await counts(service) == [leads, sales + 1, refunds]


@pytest.mark.parametrize("fault", [CUTS, HANGS, "overloaded"])
async def test_a_service_that_fails_reaches_no_shopper(service: Around, shopper: Shopper, fault: str):
    await shopper.arrive("anna")
    service.between.answers = [fault]

    await shopper.sign_up()
    await shopper.pay()
    await shopper.refund()

    assert {call.name for call in service.between.received} >= {"lead", "sale", "refund"}


async def test_a_key_that_is_replaced_while_the_store_runs_reaches_no_shopper(
    service: Around, shopper: Shopper, project: Path
):
    await shopper.arrive("anna")
    await shopper.sign_up()
    before = await counts(service)

    new_key = await regenerate(service.served.database_url, service.acme)
    lost = await shopper.pay()
    assert await counts(service) == before
    assert f"sale {lost}: invalid_key" in shopper.example.log

    configure(project, service, new_key)
    with start(project, "restarted") as restarted:
        shopper.example = restarted
        await shopper.page.goto(restarted.url("/account"))
        await shopper.pay()
    service.between.key = new_key  # for the tests that follow

    assert (await counts(service))[1] == before[1] + 1
