"""`svc login`, `init --sandbox`, `test`, `status` and `explain`, and the way that a coding agent takes."""

import asyncio
import json
import os
import re
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import Browser, expect

from storage.access import program_keys
from tests.cli.integrator.conftest import OLGA, PASSWORD, Shop

BLOCK = re.compile(r"^```sh (\w+)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


async def log_in(shop: Shop, browser: Browser, button: str) -> tuple[int, str]:
    """Log in, decide with a button in the browser, and return how the command ended and what it said."""
    waiting = shop.start("login")
    assert waiting.stdout
    address, code = [(await asyncio.to_thread(waiting.stdout.readline)).split()[-1] for _ in range(2)]
    page = await browser.new_page()
    await page.goto(address)
    await page.get_by_label("E-mail address").fill(OLGA)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_label("Code")).to_have_text(code)
    await page.get_by_role("button", name=button).click()
    said, _ = await asyncio.to_thread(waiting.communicate)
    return waiting.returncode, said


async def test_a_member_rejects_the_login_and_nothing_is_stored_or_approves_it(shop: Shop, browser: Browser):
    rejected, _ = await log_in(shop, browser, "Cancel")
    is_stored = shop.login.exists()
    approved, said = await log_in(shop, browser, "Connect")

    assert (rejected, is_stored) == (1, False)
    assert (approved, f"Logged in as {OLGA}" in said) == (0, True)
    assert shop.login.stat().st_mode & 0o777 == 0o600
    assert json.loads(shop.login.read_text())["token"] not in said
    assert (await shop.svc("programs", "list", "--json")).json["data"][0]["id"] == shop.acme.program_id


async def test_logging_out_ends_the_session_and_a_command_that_needs_one_says_how_to_get_it(shop: Shop):
    missing = await shop.svc("programs", "list", "--json")
    unreachable = await shop.svc("login", "--base-url", "http://127.0.0.1:9", "--json")
    await shop.sign_in()
    kept = shop.login.read_text()

    done = await shop.svc("logout")

    assert (done.code, shop.login.exists()) == (0, False)
    shop.login.write_text(kept)
    assert (await shop.svc("programs", "list")).code == 1
    assert (missing.code, missing.json["error"]["code"], "svc login" in missing.stderr) == (4, "not_logged_in", True)
    assert (unreachable.code, unreachable.json["error"]["code"]) == (3, "service_unreachable")


async def test_a_project_switches_to_its_sandbox_and_back_by_configuration_alone_with_no_new_key_unasked(shop: Shop):
    await shop.sign_in()
    await shop.svc("init", "--api-key-stdin", stdin=f"{shop.acme.key}\n")

    tried = (await shop.svc("init", "--sandbox", "--json")).json
    sold = (await shop.svc("test", "sale", "--json")).json
    again = (await shop.svc("init", "--sandbox", "--json")).json
    env = shop.read(".svc/.env")
    listed = await shop.svc("programs", "list", COLUMNS="200")
    status = await shop.svc("status")
    live = (await shop.svc("init", "--program", shop.acme.program_id, "--json")).json
    env_of_live = shop.read(".svc/.env")
    (shop.project / ".svc/.env").unlink()
    unasked = await shop.svc("init", "--sandbox", "--json")
    generated = await shop.svc("init", "--sandbox", "--generate-key", "--json")

    assert tried["sandbox_of"] == shop.acme.program_id
    assert f"SERVICE_PROGRAM_ID={tried['program_id']}\n" in env
    assert f"SERVICE_API_KEY=aff_{tried['program_id']}_" in env
    assert sold["answer"]["data"]["programId"] == tried["program_id"]
    assert (again["changed"], live["sandbox_of"], live["has_key"]) == ([], None, True)
    assert f"SERVICE_API_KEY={shop.acme.key}\n" in env_of_live
    assert f"(sandbox of {shop.acme.program_id})" in listed.stdout
    assert f"Sandbox of program {shop.acme.program_id}" in status.stdout
    assert (unasked.code, unasked.json["error"]["code"]) == (1, "sandbox_key_required")
    assert (generated.code, generated.json["has_key"]) == (0, True)


async def test_an_owner_creates_a_partner_and_deletes_a_program_without_events(shop: Shop):
    await shop.sign_in()
    made = (await shop.svc("programs", "create", "--name", "New", "--domain", "localhost:3000", "--json")).json
    new = await shop.svc(*("partners", "create", "--program", made["id"], "--name", "Nora", "--code", "nora", "--json"))
    await shop.acme.visitor()

    unasked = await shop.svc("programs", "delete", made["id"])
    deleted = await shop.svc("programs", "delete", made["id"], "--yes", "--json")
    used = await shop.svc("programs", "delete", shop.acme.program_id, "--yes", "--json")

    assert new.json["link"] == "http://localhost:3000/?aff=nora"
    assert unasked.code == 2
    assert deleted.json == {"deleted": made["id"]}
    assert (used.code, used.json["error"]["code"]) == (1, "program_has_events")


@pytest.fixture
async def ready(shop: Shop) -> Shop:
    """The shop after `svc init` with its key."""
    await shop.sign_in()
    assert (await shop.svc("init", "--api-key-stdin", stdin=f"{shop.acme.key}\n")).code == 0
    return shop


async def test_a_test_call_is_marked_as_one_and_proves_its_step_which_a_dry_run_does_not(ready: Shop):
    for number, call in enumerate(("click", "lead", "sale")):
        for option in ("--dry-run", "--json"):
            done = await ready.svc("test", call, option, "--json")
            steps = (await ready.svc("status", "--json")).json["checklist"]

            assert done.json["answer"]["data"]["test_mode"] is True
            proven = ["test_click", "test_lead", "test_sale"][: number + (option == "--json")]
            assert [step["step"] for step in steps if step["done"]] == proven


async def test_the_environment_outranks_the_file_and_without_a_key_the_next_step_is_named(ready: Shop):
    wrong = await ready.svc("status", "--json", SERVICE_API_KEY="aff_wrong")
    (ready.project / ".svc/.env").unlink()
    without = await ready.svc("test", "sale", "--json")

    assert (without.code, without.json["error"]["code"]) == (4, "no_program_key")
    assert (wrong.code, wrong.json["error"]["code"]) == (4, "invalid_key")


async def test_the_status_is_plain_text_and_a_rotation_warning_goes_to_stderr_once(ready: Shop):
    await ready.acme.change(name="[red]Acme[/] \u202epartners")
    at = datetime.now(UTC)
    await ready.acme.do(program_keys.flag, rotate_by=at + timedelta(days=9), at=at)

    shown = await ready.svc("status")
    done = await ready.svc("test", "click", "--json")

    assert shown.stdout.startswith("[red]Acme[/]  partners (program ")
    assert {"\x1b", "\u202e"}.isdisjoint(shown.stdout + shown.stderr)
    assert (done.json["answer"]["success"], done.stderr.count("Warning")) == (True, 1)


async def test_a_sale_is_explained_and_the_exit_code_says_whether_it_is_credited(ready: Shop):
    await ready.acme.customer()
    await ready.acme.sale()

    credited = await ready.svc("explain", "inv-1", "--json")
    missing = await ready.svc("explain", "inv-2")

    assert (credited.code, credited.json["verdict"]) == (0, "credited")
    assert (missing.code, "not_recorded" in missing.stdout) == (1, True)


@pytest.mark.shops
async def test_following_the_curl_lines_of_agents_md_proves_every_step(ready: Shop):
    agents = ready.read(".svc/AGENTS.md")
    lines = dict(BLOCK.findall(agents))
    steps = [f"{way}_{kind}" for way in ("test", "live") for kind in ("click", "lead", "sale")]
    assert list(lines) == [*steps, "refund", "status"]

    script = "set -a; . .svc/.env; set +a\n" + "\necho\n".join(lines.values())
    bash, path = ["bash", "-euo", "pipefail", "-c", script], {"PATH": os.environ["PATH"]}
    printed = await asyncio.to_thread(subprocess.check_output, bash, cwd=ready.project, env=path, text=True, timeout=60)

    assert '"error"' not in printed
    checklist = (await ready.svc("status", "--json")).json["checklist"]
    assert [step["step"] for step in checklist if not step["done"]] == []
