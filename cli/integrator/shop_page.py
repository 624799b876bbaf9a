"""A page of the shop, as a plain HTTP client gets it, and as a browser shows it where there is one."""

import os
import re
import shutil
import subprocess
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import httpx2

from cli.integrator.output import Failure

TIMEOUT_SECONDS = 15
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
TRACKER = re.compile(r"/svc-tracker[\w.-]*\.js$")


class TrackerTag(NamedTuple):
    """A script tag of the tracker, its URLs absolute: `source` of the script, `calls` up to a call's name."""

    source: str
    calls: str
    program_id: str
    needs_consent: bool
    nonce: str


class ShopPage(NamedTuple):
    """What a page is made of. `console` is what a `browser` logged; both are None without a browser."""

    url: str
    status: int
    headers: httpx2.Headers
    html: str
    tags: list[TrackerTag]
    policies: list[str]
    console: list[str] | None
    browser: str | None


def fetch(url: str) -> ShopPage:
    """Return a page; the browser's version where there is a browser. Raises Failure `page_unreachable`."""
    try:
        headers = {"Cookie": "svc_click_id=doctor", "Accept": "text/html", "User-Agent": "svc-doctor"}
        response = httpx2.get(url, headers=headers, timeout=TIMEOUT_SECONDS, follow_redirects=True)
    except (httpx2.TransportError, httpx2.InvalidURL) as problem:
        raise Failure("page_unreachable", f"{url} does not respond: {problem}", "Check the URL.") from None
    address = str(response.url)
    html, console, browser = _in_browser(address) or (response.text, None, None)
    parser = _Parser(address)
    parser.feed(html)
    policies = [*response.headers.get_list("content-security-policy"), *parser.policies]
    return ShopPage(address, response.status_code, response.headers, html, parser.tags, policies, console, browser)


def _in_browser(url: str) -> tuple[str, list[str], str] | None:
    """Return the page's HTML after its scripts have run, the console's lines and the browser's name; None without."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return None
    rights = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    options = ["--headless", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, *options, *rights, f"--user-data-dir={profile}", url]
        try:
            done = subprocess.run(command, capture_output=True, timeout=60, check=True)  # noqa: S603 - no shell
        except (subprocess.SubprocessError, OSError):
            return None
    console = [line for line in done.stderr.decode(errors="replace").splitlines() if ":CONSOLE" in line]
    return done.stdout.decode(errors="replace"), console, Path(browser).stem


class _Parser(HTMLParser):
    """Collects the tracker's tags and the policies of a page."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.tags: list[TrackerTag] = []
        self.policies: list[str] = []
        self._url = url

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "script" and ("data-svc-program-id" in found or TRACKER.search(found.get("src", ""))):
            source = urljoin(self._url, found.get("src", ""))
            base = found.get("data-svc-api-base", re.sub(r"/js/[^/]*$", "", source)).rstrip("/")
            calls = urljoin(self._url, found.get("data-svc-calls", f"{base}/api/v1/track").rstrip("/") + "/")
            program, consent = found.get("data-svc-program-id", ""), found.get("data-svc-consent") == "required"
            self.tags.append(TrackerTag(source, calls, program, consent, found.get("nonce", "")))
        elif tag == "meta" and found.get("http-equiv", "").lower() == "content-security-policy":
            self.policies.append(found.get("content", ""))
