"""A shop of each framework, written with the snippets of the guides, as a process."""

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx

from presentation import guides
from tests import shops
from tests.conftest import ROOT
from tests.serving import PLAIN
from tests.tables import table

SHOPS = Path(__file__).parent / "shops"


class Framework(NamedTuple):
    """How a shop is started (PORT is its port), the snippets of its helper, and where both files are."""

    command: list[str]
    helper: list[str]
    helper_file: str
    shop_file: str


FRAMEWORKS = {name: Framework(**about) for name, about in table("snippets/frameworks.toml").items()}
FORGETFUL = ("django",)  # with the helper that keeps nothing for later


class Shop:
    """A shop that runs, in a folder of its own."""

    def __init__(self, folder: Path, port: int, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, verify=PLAIN)

    def request(self, path: str, user: str, click_id: str | None = None) -> httpx.Response:
        headers = {"Cookie": f"theme=dark; svc_click_id={click_id}; cart=1"} if click_id else {}
        if path == "/":
            return self.client.get(path, headers=headers)
        return self.client.post(path, data={"user": user}, headers=headers)

    def run_scheduled_task(self) -> None:
        """Send what waits, where a scheduled task does that."""
        if (self.folder / "affiliate.php").exists():
            for busy in self.folder.rglob("busy"):
                busy.unlink()  # as if the pause was over
            subprocess.run(["php", "affiliate.php"], cwd=self.folder, env=self.environment, check=True)

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")


@contextmanager
def opened(name: str, folder: Path, filling: guides.Filling, packages: Path, **environment: str) -> Iterator[Shop]:
    """Write a framework's shop with the snippets of the guides, and run it until the block ends."""
    framework = FRAMEWORKS[name]
    (folder / "node_modules").symlink_to(packages / "node_modules")
    _write(name, folder, guides.blocks("snippets", filling) | guides.blocks("payments", filling))
    settings = {"SERVICE_PROGRAM_ID": str(filling.program_id), "SERVICE_BASE_URL": filling.base_url}
    settings |= {"SERVICE_OUTBOX": f"{folder}/outbox", "PYTHONPATH": str(ROOT / "sdks/python/src")}
    settings |= {"PHP_CLI_SERVER_WORKERS": "8", **environment}
    command = [sys.executable if part == "python" else part for part in framework.command]
    with shops.running(command, "ready|started", cwd=folder, log=folder / "log", **settings) as (port, _):
        shop = Shop(folder, port, os.environ | settings)
        yield shop
        shop.client.close()


def _write(name: str, folder: Path, blocks: dict[str, str]) -> None:
    framework = FRAMEWORKS[name]
    template = next(SHOPS.glob(f"{name}.*")).read_text(encoding="utf-8")
    blocks = {key: code.replace("PAUSE_SECONDS = 30", "PAUSE_SECONDS = 1") for key, code in blocks.items()}
    blocks |= _without_imports(blocks)
    if name == "php":  # its cart and its tax in place of the guide's amount
        paid = "'amount_cents' => $invoice->total, 'tax_cents' => $invoice->tax"
        blocks["php_sale"] = blocks["php_sale"].replace("'amount_cents' => 4900", paid)
    written = re.sub(
        r"^( *)(?://|#) <<(\w+)>>$", lambda at: textwrap.indent(blocks[at[2]], at[1]), template, flags=re.MULTILINE
    )
    opening = ["<?php"] if framework.helper_file.endswith("php") else []
    helper = "\n".join([*opening, *(blocks[each] for each in framework.helper)])
    written = _with_clicks(name, written, blocks)
    for path, content in ((framework.helper_file, helper), (framework.shop_file, written)):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")


def _with_clicks(name: str, shop: str, blocks: dict[str, str]) -> str:
    """Return a shop that records clicks itself: the line of the guide in place of the one that reads the cookie."""
    line = blocks[f"{name}_click"]
    start = re.escape(line.partition("=")[0])
    cookie = blocks[f"{name}_cookie"]
    (reads,) = re.findall(rf"^ *{start}=.*$", cookie, re.MULTILINE)
    return re.sub(
        rf"^( *){re.escape(reads.strip())}$", lambda at: textwrap.indent(line, at[1]), shop, count=1, flags=re.MULTILINE
    )


def _without_imports(blocks: dict[str, str]) -> dict[str, str]:
    """Return the snippets whose imports belong at the top of a file: the imports, and the rest."""
    lead = blocks["express_lead"]
    imports = "\n".join(re.findall(r"^import .*$", lead, re.MULTILINE))
    return {"express_imports": imports, "express_lead": re.sub(r"^import .*\n", "", lead, flags=re.MULTILINE)}
