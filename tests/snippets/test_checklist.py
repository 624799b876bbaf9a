"""The checklist's commands with the service down, slow, and answering each error: they end, and say what happened."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from presentation import guides
from presentation.guides import Filling
from tests import postgres
from tests.snippets import faults
from tests.snippets.faults import ERRORS, SLOW

DOWN, SLOW_TOO = 7, 28  # how curl says that nothing listens, and that the time is over


def commands(base_url: str) -> dict[str, str]:
    """Return the steps of the checklist that are commands; they wait for a second instead of ten."""
    blocks = guides.blocks("verify", Filling(base_url, 1))
    return {name: code.replace("-m 10 ", "-m 1 ") for name, code in blocks.items() if "curl" in code}


def run(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the shell of an integrator, who has the key in the environment."""
    environment = {"PATH": "/usr/bin:/bin", "SERVICE_API_KEY": "aff_1_x"}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


def test_a_command_says_that_the_service_is_down():
    for name, code in commands(f"http://127.0.0.1:{postgres.free_port()}").items():
        done = run(code)
        assert (name, done.returncode) == (name, DOWN)
        assert "Failed to connect" in done.stderr or "Couldn't connect" in done.stderr


@pytest.mark.parametrize("fault", SLOW)
def test_a_command_does_not_wait_for_a_slow_service(fault: str):
    with faults.failing() as service, ThreadPoolExecutor() as terminals:
        done = list(terminals.map(run, commands(f"{service.base_url}/{fault}").values()))

    assert {each.returncode for each in done} == {SLOW_TOO}
    assert all("timed out" in each.stderr for each in done)


def test_every_command_shows_each_error():
    with faults.failing() as service:
        for code in ERRORS:
            steps = commands(f"{service.base_url}/{code}")
            done = run("\n".join(f"{step}\necho" for step in steps.values()) + '\necho "click: $CLICK_ID"')
            assert (code, done.returncode) == (code, 0)
            assert re.findall(r'"code": "(\w+)"', done.stdout + done.stderr) == [code] * len(steps)
            assert done.stdout.endswith("click: \n")
