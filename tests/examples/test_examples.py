"""The Django example, made of the guides' snippets: the steps of its set-up, and shoppers in Chromium."""

import asyncio
import re
import shlex
import shutil
import sys
from time import monotonic

from playwright.async_api import Browser

from tests.cli.integrator.conftest import Shop, shop  # noqa: F401 - a fixture
from tests.conftest import ROOT
from tests.examples.conftest import EXAMPLES, Example, open_shopper
from tests.shops import recorded, running

PAGE = (ROOT / "docs/integration-times.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"```sh times\n(.*?)\n```", PAGE, re.DOTALL)[0].splitlines()
SERVE = next(number for number, command in enumerate(COMMANDS) if "runserver" in command)


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
    with running(serve, "Starting development server", cwd=shop.project, log=log) as (port, _):
        shopper = await open_shopper(browser, Example(port, log))
        for step, act in (("click", shopper.arrive), ("lead", shopper.sign_up), ("sale", shopper.pay)):
            await act()
            print(f"{step}: {monotonic() - started:.1f} s")  # noqa: T201 - `pytest -s` shows what the page keeps
            assert await _is_verified(shop, f"live_{step}"), log.read_text()
        await shopper.refund()
        guest = await open_shopper(browser, Example(port, log))
        await guest.arrive("ben")
        await guest.page.click("text=Buy as a guest")
        await guest.page.wait_for_selector("text=Thank you")
        await guest.context.clear_cookies()
        await guest.sign_up()
        await guest.page.click("text=Start the trial")
        await guest.page.wait_for_selector("#plan:has-text('trial')")
        doctor = await shop.svc("doctor", f"http://127.0.0.1:{port}/", "--json")

    assert await shop.acme.store.read(recorded) == [1, 2, 1]  # a trial is no sale
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
