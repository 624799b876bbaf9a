"""The examples, made of the guides' snippets: shoppers in Chromium, a service that fails, and the steps of a set-up."""

import asyncio
import re
import shlex
import shutil
import sys
from time import monotonic

import pytest
from playwright.async_api import Browser

from tests.cli.integrator.conftest import Shop, prepare, shop  # noqa: F401 - fixtures
from tests.conftest import ROOT
from tests.examples.conftest import EXAMPLES, Around, Example, Shopper, counts, open_shopper
from tests.shops import running

PAGE = (ROOT / "docs/integration-times.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"```sh times\n(.*?)\n```", PAGE, re.DOTALL)[0].splitlines()
SERVE = next(number for number, command in enumerate(COMMANDS) if "runserver" in command)


async def test_a_referred_visitor_buys_and_gets_a_refund(service: Around, shopper: Shopper):
    before = await counts(service)
    click_id = await shopper.arrive("anna")
    user = await shopper.sign_up()
    order = await shopper.pay()
    await shopper.refund()

    (lead,), (sale,), (refund,) = (service.between.wait_for(call, 1) for call in ("lead", "sale", "refund"))
    assert (lead["click_id"], lead["customer_key"]) == (click_id, user)
    assert (sale["customer_key"], sale["transaction_id"]) == (user, order)
    assert (refund["transaction_id"], refund["refund_amount_cents"]) == (order, 900)
    assert f"sale {order}" not in shopper.example.log.read_text(encoding="utf-8", errors="replace")
    assert await counts(service) == [each + 1 for each in before]
    assert [each["value"] for each in await shopper.context.cookies() if each["name"] == "svc_click_id"] == [click_id]


@pytest.mark.parametrize("example", ["django"], indirect=True)
async def test_a_trial_is_no_sale_and_a_guest_s_sale_is_recorded_by_the_click(service: Around, shopper: Shopper):
    leads, sales, refunds = await counts(service)
    await shopper.arrive("ben")
    await shopper.page.click("text=Buy as a guest")
    await shopper.page.wait_for_selector("text=Thank you")
    await shopper.context.clear_cookies()
    await shopper.sign_up()
    await shopper.page.click("text=Start the trial")
    await shopper.page.wait_for_selector("#plan:has-text('trial')")

    assert await counts(service) == [leads, sales + 1, refunds]
    assert len(service.between.bodies("sale")) == 1


async def test_the_page_s_commands_lead_to_a_verified_click_lead_and_sale(
    shop: Shop,  # noqa: F811 - the fixture
    browser: Browser,
):
    shutil.copytree(EXAMPLES / "django", shop.project, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    started = monotonic()

    for command in COMMANDS[:SERVE]:
        await _run(shop, command)
    serve = [sys.executable, "-u", *shlex.split(COMMANDS[SERVE].replace("8001", "--noreload 127.0.0.1:PORT"))[1:]]
    log = shop.project / "log"
    with running(serve, "Starting development server", cwd=shop.project, log=log) as port:
        shopper = await open_shopper(browser, Example(port, log))
        for step, act in (("click", shopper.arrive), ("lead", shopper.sign_up), ("sale", shopper.pay)):
            await act()
            print(f"{step}: {monotonic() - started:.1f} s")  # noqa: T201 - `pytest -s` shows what the page keeps
            assert await _is_verified(shop, f"live_{step}"), log.read_text()
        doctor = await shop.svc("doctor", f"http://127.0.0.1:{port}/", "--json")

    assert (doctor.code, doctor.json["problems"]) == (0, 0), doctor.stdout
    for step, number in (("click", SERVE + 1), ("lead", SERVE + 1), ("sale", SERVE + 1)):
        assert f"| first verified {step} | {number} |" in PAGE
    assert f"| checked and confirmed | {len(COMMANDS)} |" in PAGE


async def _run(shop: Shop, command: str) -> None:  # noqa: F811 - the fixture's value
    name, *arguments = shlex.split(command)
    if arguments == ["login"]:
        await shop.sign_in()  # as if it had been approved: tests/cli/integrator/test_commands.py
    elif name == "svc":
        done = await shop.svc(*arguments)
        assert done.code == 0, done.stderr
    else:
        process = await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=shop.project)
        assert await process.wait() == 0


async def _is_verified(shop: Shop, step: str) -> bool:  # noqa: F811 - the fixture's value
    checklist = (await shop.svc("status", "--json")).json["checklist"]
    return bool(next(each["done"] for each in checklist if each["step"] == step))
