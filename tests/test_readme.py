"""The README, the guides and the files that are written from the code describe what the service does.

The guides' code is what the tests of shops and browsers run: no block is left out, no example differs.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from presentation import guides
from presentation.guides import Filling
from tests.conftest import LiveServer
from tests.generated import FILES, ROOT
from tests.tables import table

EXAMPLES = ROOT / "examples"
NEXT = EXAMPLES / "next"
SNIPPETS = ROOT / "tests/snippets/shops"
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.shops  # its commands need curl
def test_the_walk_from_click_to_refund_works_as_printed(live_server: Callable[..., LiveServer], sqlite_url: str):
    walk = re.findall(r"```bash walk\n(.*?)```", README, re.DOTALL)[0]
    server = live_server(sqlite_url)
    environment = os.environ | {"BASE": server.base_url, "SVC_DATABASE_URL": sqlite_url}
    here = walk.replace(".venv/bin/python", "python").replace(".venv/bin/svc", "python -m cli")

    bash = ["bash", "-euo", "pipefail", "-c", f'python() {{ "{sys.executable}" "$@"; }}\n{here}']
    done = subprocess.run(bash, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)

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


def test_generated_files_are_up_to_date():
    stale = [name for name, write in FILES.items() if (ROOT / name).read_text(encoding="utf-8") != write()]

    assert stale == [], "run `make generated`"


def test_every_snippet_is_run_somewhere():
    filling = Filling("https://svc.example", 1)
    named = {name: code for guide in guides.NAMES for name, code in guides.blocks(guide, filling).items()}
    pasted = {name for path in SNIPPETS.iterdir() for name in re.findall(r"<<(\w+)>>", path.read_text())}
    files = [path.read_text() for pattern in ("*.*js*", "app/**/*.*js*") for path in NEXT.glob(pattern)]
    in_example = {name for name, code in named.items() if any(_has(text, code) for text in files)}

    elsewhere = {name for names in table("snippets/elsewhere.toml").values() for name in names}
    clicks = {name for name in named if name.endswith("_click")}  # in shops, in place of the line that reads the cookie
    checkouts = {name for name in named.keys() - pasted if name.startswith("stripe_checkout")}  # test_checkouts.py
    verified = guides.blocks("verify", filling).keys() - {"tracker_installed"}  # test_proxies.py
    assert named.keys() - pasted - in_example == elsewhere | clicks | checkouts | verified
    assert _has("".join(files), named["sdk_node"])
    for guide in guides.NAMES:
        assert re.findall(r"^```\w+$", guides.text(guide), re.MULTILINE) == []


def _has(text: str, code: str) -> bool:
    """Say whether an example has every line of a snippet; it may import from another path."""
    lines = [line.strip() for line in code.splitlines()]
    return all(line in text for line in lines if not line.startswith(("//", "import ", "from ")))


def test_the_django_example_is_made_of_the_snippets():
    blocks = guides.blocks("snippets", Filling("https://svc.example", 1))
    code = "".join(path.read_text(encoding="utf-8") for path in (EXAMPLES / "django/shop").glob("*.py"))

    for name in ("python_load", "python_track", "django_lead", "django_sale", "django_refund", "django_cookie"):
        lines = [line.strip() for line in blocks[name].splitlines()]
        assert [line for line in lines if line not in code and not line.startswith("#")] == [], name
