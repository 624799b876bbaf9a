"""`svc test`, `status` and `explain`, and the way that a coding agent takes through AGENTS.md."""

import asyncio
import os
import re
import subprocess
from datetime import UTC, datetime, timedelta

import pytest

from storage.access import program_keys
from tests.cli.integrator.conftest import Shop

BLOCK = re.compile(r"^```sh (\w+)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


async def initialize(shop: Shop) -> None:
    await shop.sign_in()
    assert (await shop.svc("init", "--api-key-stdin", stdin=f"{shop.acme.key}\n")).code == 0


@pytest.fixture
async def ready(shop: Shop) -> Shop:
    """The shop after `svc init` with its key."""
    await initialize(shop)
    return shop


async def test_a_test_call_shows_the_request_the_response_and_what_it_proves(ready: Shop):
    for number, call in enumerate(("click", "lead", "sale")):
        result = await ready.svc("test", call)
        done = await ready.svc("test", call, "--json")

        assert result.code == 0, call
        assert all(word in result.stdout for word in (f"POST /api/v1/track/{call}", "Response", "Proves:", "Next:"))
        assert done.json["answer"]["data"]["test_mode"] is True
        steps = (await ready.svc("status", "--json")).json["checklist"]
        assert [step["step"] for step in steps if step["done"]] == ["test_click", "test_lead", "test_sale"][
            : number + 1
        ]


async def test_the_environment_outranks_the_file_and_without_a_key_the_next_step_is_named(shop: Shop):
    without = await shop.svc("test", "sale", "--json")
    await initialize(shop)
    wrong = await shop.svc("status", "--json", SERVICE_API_KEY="aff_wrong")

    assert (without.code, without.json["error"]["code"]) == (4, "no_program_key")
    assert (wrong.code, wrong.json["error"]["code"]) == (4, "invalid_key")


async def test_a_rotation_warning_goes_to_stderr_once(ready: Shop):
    deadline = datetime.now(UTC) + timedelta(days=9)
    await ready.acme.store.write(program_keys.flag, ready.acme.program_id, rotate_by=deadline, at=datetime.now(UTC))

    done = await ready.svc("test", "click", "--json")

    assert done.json["answer"]["success"] is True
    assert done.stderr.count("Warning") == 1


async def test_the_status_is_plain_text_and_says_that_a_headless_browser_s_clicks_do_not_count(ready: Shop):
    await ready.change(name="[red]Acme[/] \u202epartners")
    await ready.acme.click(filtered="bot")
    filtered = await ready.svc("status")
    await ready.acme.click()
    counted = await ready.svc("status")

    assert "No click has counted yet: those of headless browsers" in filtered.stdout
    assert "headless" not in counted.stdout.replace("\n", " ").partition("Next:")[0]
    assert counted.stdout.startswith("[red]Acme[/]  partners (program ")
    assert {"\x1b", "\u202e"}.isdisjoint(counted.stdout + counted.stderr)


async def test_a_sale_is_explained_and_the_exit_code_says_whether_it_is_credited(ready: Shop):
    await ready.acme.customer()
    await ready.acme.sale()

    credited = await ready.svc("explain", "inv-1", "--json")
    missing = await ready.svc("explain", "inv-2")

    assert (credited.code, credited.json["verdict"]) == (0, "credited")
    assert (missing.code, "not_recorded" in missing.stdout, "Smallest change" in missing.stdout) == (
        1,
        True,
        True,
    )


@pytest.mark.shops
async def test_following_the_curl_lines_of_agents_md_proves_every_step(ready: Shop):
    agents = ready.read(".svc/AGENTS.md")
    lines = dict(BLOCK.findall(agents))
    steps = [f"{way}_{kind}" for way in ("test", "live") for kind in ("click", "lead", "sale")]
    assert list(lines) == [*steps, "refund", "status"]

    script = "set -a; . .svc/.env; set +a\n" + "\necho\n".join(lines.values())
    done = await asyncio.to_thread(
        subprocess.run,
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=ready.project,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert '"error"' not in done.stdout
    checklist = (await ready.svc("status", "--json")).json["checklist"]
    assert [step["step"] for step in checklist if not step["done"]] == []
