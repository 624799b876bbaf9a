"""A page of the shop as a client or a browser gets it, and its checks: tag, addresses, policy, consent, cookie."""

import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import httpx2

from cli.integrator import project
from cli.integrator.output import Failure

TIMEOUT_SECONDS = 15
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
TRACKER = re.compile(r"/svc-tracker[\w.-]*\.js$")
CLICK_COOKIE = "svc_click_id"
CONSENT_TOOLS = ("cookiebot", "onetrust", "usercentrics", "iubenda", "didomi", "cookieyes", "osano", "termly")
LOCAL = ("localhost", "127.0.0.1", "::1")
FALLBACKS = {"script": ("script-src-elem", "script-src", "default-src"), "connect": ("connect-src", "default-src")}
PORTS = {"http": 80, "https": 443}
FINDINGS = tomllib.loads(Path(__file__).with_name("findings.toml").read_text(encoding="utf-8"))


class TrackerTag(NamedTuple):
    source: str  # of the script; URLs are absolute
    calls: str  # up to a call's name
    program_id: str
    needs_consent: bool
    nonce: str


class ShopPage(NamedTuple):
    url: str
    status: int
    headers: httpx2.Headers
    html: str
    tags: list[TrackerTag]
    policies: list[str]
    console: list[str] | None  # what a browser logged; None without one
    browser: str | None


class ShopFinding(NamedTuple):
    code: str  # for scripts
    message: str
    fix: str  # what to do
    is_problem: bool = True


def finding(code: str, **values: object) -> ShopFinding:
    """Return a finding of `findings.toml`, whose texts name these values."""
    found = FINDINGS[code]
    message, fix = (found[text].format(**values) for text in ("message", "fix"))
    return ShopFinding(code, message, fix, is_problem="is_notice" not in found)


def fetch(url: str) -> ShopPage:
    """Return a page; the browser's version where there is a browser. Raises Failure `page_unreachable`."""
    try:
        headers = {"Cookie": f"{CLICK_COOKIE}=doctor", "Accept": "text/html", "User-Agent": "svc-doctor"}
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
            program = found.get("data-svc-program-id", "")
            consent = found.get("data-svc-consent") == "required"
            self.tags.append(TrackerTag(source, calls, program, consent, found.get("nonce", "")))
        elif tag == "meta" and found.get("http-equiv", "").lower() == "content-security-policy":
            self.policies.append(found.get("content", ""))


def check(page: ShopPage, *, base_url: str, program_id: str, domain: str) -> Iterator[ShopFinding]:
    """Yield what is wrong with a page; `domain` is where the tracker sets its cookie, empty if that is not known."""
    yield from _response(page, domain)
    yield from check_key(page.url)
    if page.tags:
        tag = page.tags[0]
        yield from _tag(page, tag, program_id)
        yield from _addresses(page, tag, base_url)
        for kind, directive, url in (("script", "script-src", tag.source), ("connect", "connect-src", tag.calls)):
            origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
            fine = all(allows(each, kind, url, page_url=page.url, nonce=tag.nonce) for each in page.policies)
            said = any(directive in line and origin in line for line in page.console or ())
            if not fine or said:
                yield finding(f"policy_{kind}", url=url, origin=origin)
    else:
        where = "" if page.console is not None else " A script may add it: install Chromium, and this looks there, too."
        yield finding("tracker_missing", page=page.url, where=where, base_url=base_url, program_id=program_id)


def _response(page: ShopPage, domain: str) -> Iterator[ShopFinding]:
    host = urlsplit(page.url).hostname or ""
    if page.status != httpx2.codes.OK:
        yield finding("page_error", page=page.url, status=page.status)
    is_within = f".{host}".endswith(f".{domain}")
    if domain and host not in LOCAL and not is_within:
        yield finding("other_domain", host=host, domain=domain)
    cookies = [each for each in page.headers.get_list("set-cookie") if each.startswith(f"{CLICK_COOKIE}=")]
    named = [SimpleCookie(each)[CLICK_COOKIE]["domain"].removeprefix(".") or host for each in cookies]
    if not named:
        yield finding("cookie_by_script_only")
    elif domain and is_within and named[0] != domain:  # a server may read either of the two
        yield finding("two_cookies", host=named[0], domain=domain)


def check_key(url: str) -> Iterator[ShopFinding]:
    """Yield a problem if the shop's web server publishes the program key, as PHP's does with the project's folder."""
    for address in dict.fromkeys(urljoin(url, path) for path in ("/.svc/.env", ".svc/.env")):
        with suppress(httpx2.TransportError, httpx2.InvalidURL):
            if f"{project.KEY}=" in httpx2.get(address, timeout=TIMEOUT_SECONDS).text:
                yield finding("key_published", address=address)


def _tag(page: ShopPage, tag: TrackerTag, program_id: str) -> Iterator[ShopFinding]:
    if not tag.program_id.isdigit():
        yield finding("program_id_missing", program_id=program_id)
    elif program_id and tag.program_id != program_id:
        yield finding("other_program", tag_program=tag.program_id, program_id=program_id)
    if len(page.tags) > 1:
        yield finding("tracker_twice", tags=len(page.tags))
    tool = next((name for name in CONSENT_TOOLS if name in page.html.lower()), None)
    if tag.needs_consent and "svc.consent" not in page.html:
        yield finding("consent_never_given")
    elif tool and not tag.needs_consent:
        yield finding("consent_not_awaited", tool=tool)


def _addresses(page: ShopPage, tag: TrackerTag, base_url: str) -> Iterator[ShopFinding]:
    script, shop = urlsplit(tag.source), urlsplit(page.url)
    own = (script.hostname, script.port) == (shop.hostname, shop.port)
    if shop.scheme == "https" and script.scheme == "http":
        yield finding("mixed_content", source=tag.source)
    if script.hostname in LOCAL and shop.hostname not in LOCAL:
        yield finding("local_address", source=tag.source, base_url=base_url)
    elif not own and not tag.source.startswith(f"{base_url}/"):
        yield finding("other_address", source=tag.source, base_url=base_url)
    fix = "Check the proxy's paths." if own else "Check the tag's src."
    try:
        found = httpx2.get(tag.source, timeout=TIMEOUT_SECONDS, follow_redirects=True)
        is_tracker = found.is_success and "svc_click_id" in found.text
        answered = f"answers {found.status_code}"
    except (httpx2.TransportError, httpx2.InvalidURL):
        is_tracker, answered = False, "does not respond"
    if not is_tracker:
        yield finding("script_unreachable", source=tag.source, answered=answered, fix=fix)
    try:  # an empty click gets the service's own error, and records nothing
        code = httpx2.post(f"{tag.calls}click", json={}, timeout=TIMEOUT_SECONDS).json()["error"]["code"]
    except (httpx2.TransportError, httpx2.InvalidURL, ValueError, KeyError, TypeError):
        code = None
    if code != "program_id_required":
        where = "a proxy forwards them" if own else "the tag says so"
        yield finding("calls_unreachable", calls=tag.calls, where=where, fix=fix)


def allows(policy: str, kind: str, url: str, *, page_url: str, nonce: str = "") -> bool:
    """Say whether a policy allows a script or connection to a URL; of 'strict-dynamic', which a browser knows, yes."""
    directives = {parts[0].lower(): parts[1:] for each in policy.split(";") if (parts := each.split())}
    sources = next((directives[name] for name in FALLBACKS[kind] if name in directives), None)
    if sources is None or "'strict-dynamic'" in sources or (nonce and f"'nonce-{nonce}'" in sources):
        return True
    return any(_matches(source.lower(), url, page_url) for source in sources)


def _matches(source: str, url: str, page_url: str) -> bool:
    """Say whether an expression of a policy, such as https://*.shop.example:8443, fits a URL."""
    scheme, host, port = _origin(url)
    if source in {"'self'", "*"}:
        return scheme in PORTS if source == "*" else _origin(page_url) == (scheme, host, port)
    if source.endswith(":"):
        return f"{scheme}:" == source
    named = urlsplit(source if "://" in source else f"{urlsplit(page_url).scheme}://{source}")
    pattern, _, wanted = named.netloc.partition(":")
    fits = host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern
    ports = {"*": port, "": PORTS.get(scheme)}
    same_scheme = scheme == named.scheme or (named.scheme, scheme) == ("http", "https")
    return same_scheme and fits and str(ports.get(wanted, wanted)) == str(port)


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or PORTS.get(parts.scheme)
