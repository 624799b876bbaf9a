"""The Django example, made of the guides' snippets: shoppers in Chromium, and a service that fails under them."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.examples import shop
from tests.examples.conftest import Around, counts
from tests.examples.shop import EXAMPLES, Example, Shopper
from tests.failing import CUTS

DATABASE = "shop.sqlite3"


@pytest.fixture(scope="module")
def example(service: Around, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Example]:
    """The store, running in a folder with its database, and with `.svc/.env` as `svc init` writes it."""
    folder = tmp_path_factory.mktemp("django")
    (folder / ".svc").mkdir()
    values = {"API_KEY": service.acme.key, "PROGRAM_ID": "1", "BASE_URL": service.between.base_url}
    (folder / ".svc/.env").write_text("".join(f"SERVICE_{name}={value}\n" for name, value in values.items()))
    manage = [sys.executable, "-u", str(EXAMPLES / "django/manage.py")]
    subprocess.run([*manage, "migrate", "-v0"], cwd=folder, check=True, env=os.environ | {"DATABASE": DATABASE})
    serve = [*manage, "runserver", "--noreload", "127.0.0.1:PORT"]
    ready, log = "Starting development server", folder / "log"
    with shop.running(serve, ready, cwd=folder, log=log, DATABASE=DATABASE) as running:
        yield running


async def test_an_ordinary_visitor_signs_up_and_buys(service: Around, shopper: Shopper):
    before = await counts(service)

    await shopper.sign_up()
    order = await shopper.pay()

    assert service.between.bodies("lead") == []
    assert await counts(service) == before
    assert f"sale {order}" not in shopper.example.log


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


async def test_a_service_that_fails_reaches_no_shopper(service: Around, shopper: Shopper):
    await shopper.arrive("anna")
    service.between.answers = [CUTS]

    await shopper.sign_up()
    await shopper.pay()
    await shopper.refund()

    assert {call.name for call in service.between.received} >= {"lead", "sale", "refund"}
