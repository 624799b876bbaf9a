"""The README, the guides and the files that are written from the code describe what the service does."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from presentation import guides
from storage.rules.errors import CODES
from tests.conftest import LiveServer
from tests.generated import FILES, ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.shops  # its commands need curl
def test_the_walk_from_click_to_refund_works_as_printed(live_server: Callable[..., LiveServer], sqlite_url: str):
    walk = re.findall(r"```bash walk\n(.*?)```", README, re.DOTALL)[0]
    server = live_server(sqlite_url)
    environment = os.environ | {"BASE": server.base_url, "SVC_DATABASE_URL": sqlite_url}
    here = walk.replace(".venv/bin/python", "python").replace(".venv/bin/svc", "python -m cli")

    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f'python() {{ "{sys.executable}" "$@"; }}\n{here}'],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    lead, sale, refund, status = answers
    assert lead["message"] == "Lead recorded."
    assert sale["data"]["commission_cents"] == 980
    assert (refund["data"]["remaining_cents"], refund["data"]["commission_reversed_cents"]) == (4_000, 180)
    assert status["data"]["recent_events"] == {"clicks_24h": 1, "leads_24h": 1, "sales_24h": 1}
    assert "match" in done.stdout.splitlines()[-1].lower()


def test_every_file_and_folder_that_the_readme_names_exists():
    named = re.findall(r"\]\(([^)#:]+)\)", README) + re.findall(r"^(\w+/|\w+\.py)\s{2,}", README, re.MULTILINE)

    assert [name for name in named if not (ROOT / name).exists()] == []
    assert len(named) > 10


def test_every_error_code_is_explained_in_the_guide():
    explained = set(re.findall(r"^\| `(\w+)` \|", guides.text("errors"), re.MULTILINE))

    assert explained == set(CODES)


def test_generated_files_are_up_to_date():
    stale = [name for name, write in FILES.items() if (ROOT / name).read_text(encoding="utf-8") != write()]

    assert stale == [], "run `make generated`"
