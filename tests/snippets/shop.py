"""Small shops in each framework, into which the snippets of the guides are pasted, and then run as a process."""

import re
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx

from presentation import guides
from presentation.guides import Filling
from tests import processes
from tests.serving import PLAIN

SHOPS = Path(__file__).parent / "shops"
NODE = Path(__file__).parent / "node"


class Framework(NamedTuple):
    """How a shop is started (PORT is its port), its helper, and where both files are."""

    command: list[str]
    helper: str
    helper_file: str
    shop_file: str


PHP = ["php", "-d", "display_errors=1", "-S", "127.0.0.1:PORT", "shop.php"]
FRAMEWORKS = {
    "django": Framework([sys.executable, "-m", "shop", "PORT"], "python", "shop/affiliate.py", "shop/__main__.py"),
    "flask": Framework([sys.executable, "shop.py", "PORT"], "python", "affiliate.py", "shop.py"),
    "fastapi": Framework([sys.executable, "shop.py", "PORT"], "python", "affiliate.py", "shop.py"),
    "express": Framework(["node", "shop.mjs", "PORT"], "node", "affiliate.mjs", "shop.mjs"),
    "php": Framework(PHP, "php", "affiliate.php", "shop.php"),
    "laravel": Framework(PHP, "php", "affiliate.php", "shop.php"),
    "rails": Framework(["ruby", "shop.rb", "PORT"], "ruby", "app/lib/affiliate.rb", "shop.rb"),
}


class Answer(NamedTuple):
    """What a shopper gets."""

    status: int
    text: str
    cookies: list[str]


class Shop:
    """A shop that runs, in a folder of its own."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, verify=PLAIN)

    def request(self, path: str, user: str, click_id: str | None = None) -> Answer:
        """Let a shopper do something: GET /, or POST to another path."""
        headers = {"Cookie": f"theme=dark; svc_click_id={click_id}; cart=1"} if click_id else {}
        method = "GET" if path == "/" else "POST"
        answer = self.client.request(method, path, data={"user": user} if method == "POST" else None, headers=headers)
        return Answer(answer.status_code, answer.text, answer.headers.get_list("set-cookie"))

    @property
    def log(self) -> str:
        """What the shop's process has printed."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")


@contextmanager
def opened(name: str, folder: Path, filling: Filling, **environment: str) -> Iterator[Shop]:
    """Write a framework's shop with the snippets of the guides, and run it until the block ends."""
    framework = FRAMEWORKS[name]
    _write(name, folder, guides.blocks("snippets", filling) | guides.blocks("payments", filling))
    settings = {"PHP_CLI_SERVER_WORKERS": "8"} | environment
    with processes.running(framework.command, "ready|started", cwd=folder, log=folder / "log", **settings) as port:
        shop = Shop(folder, port)
        yield shop
        shop.client.close()


def _write(name: str, folder: Path, blocks: dict[str, str]) -> None:
    framework = FRAMEWORKS[name]
    template = next(SHOPS.glob(f"{name}.*")).read_text(encoding="utf-8")
    blocks = blocks | _without_imports(blocks)
    written = re.sub(
        r"^( *)(?://|#) <<(\w+)>>$", lambda at: textwrap.indent(blocks[at[2]], at[1]), template, flags=re.MULTILINE
    )
    opening = "<?php\n" if framework.helper == "php" else ""
    helper = opening + blocks[f"{framework.helper}_track"]
    for path, content in ((framework.helper_file, helper), (framework.shop_file, written)):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    if name == "express":
        (folder / "node_modules").symlink_to(NODE / "node_modules")


def _without_imports(blocks: dict[str, str]) -> dict[str, str]:
    """Return the snippets whose imports belong at the top of a file: the imports, and the rest."""
    lead = blocks["express_lead"]
    imports = "\n".join(re.findall(r"^import .*$", lead, re.MULTILINE))
    return {"express_imports": imports, "express_lead": re.sub(r"^import .*\n", "", lead, flags=re.MULTILINE)}
