"""The checklist's commands with the service down, slow, and answering an error: they end, and say what happened."""

import asyncio
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from presentation import guides
from presentation.guides import Filling
from tests import failing, postgres
from tests.failing import DRIPS, ERRORS, HANGS
from tests.serving import Serve

DOWN, SLOW = 7, 28  # how curl says that nothing listens, and that the time is over


def commands(base_url: str) -> dict[str, str]:
    """Return the steps of the checklist that are commands; they wait for a second instead of ten."""
    blocks = guides.blocks("verify", Filling(base_url, 1))
    return {name: code.replace("-m 10 ", "-m 1 ") for name, code in blocks.items() if "curl" in code}


def run(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the shell of an integrator, who has the key in the environment."""
    bash = ["bash", "-o", "pipefail", "-c", command]
    environment = {"PATH": "/usr/bin:/bin", "SERVICE_API_KEY": "aff_1_x"}
    return subprocess.run(bash, env=environment, capture_output=True, text=True, check=False)


def test_a_command_says_that_the_service_is_down():
    for name, code in commands(f"http://127.0.0.1:{postgres.free_port()}").items():
        done = run(code)
        assert (name, done.returncode) == (name, DOWN)
        assert "Failed to connect" in done.stderr or "Couldn't connect" in done.stderr


def test_a_command_does_not_wait_for_a_slow_service():
    with failing.running() as service, ThreadPoolExecutor() as terminals:
        for fault in (HANGS, DRIPS):
            service.answers = [fault]
            done = list(terminals.map(run, commands(service.base_url).values()))
            assert {each.returncode for each in done} == {SLOW}
            assert all("timed out" in each.stderr for each in done)


def test_every_command_shows_an_error():
    with failing.running() as service:
        steps = commands(service.base_url)
        for code in ERRORS:
            service.answers = [code]
            done = run("\n".join(f"{step}\necho" for step in steps.values()) + '\necho "click: $CLICK_ID"')
            assert (code, done.returncode) == (code, 0)
            assert re.findall(r'"code": "(\w+)"', done.stdout + done.stderr) == [code] * len(steps)
            assert done.stdout.endswith("click: \n")


async def test_the_tracker_guide_s_command_names_the_pinned_copy(serve: Serve, sqlite_url: str):
    code = guides.blocks("tracker", Filling(serve(sqlite_url).base_url, 1))["tracker_pinned"]

    done = await asyncio.to_thread(run, code)

    assert done.stdout.lower().startswith("content-location: svc-tracker.")
