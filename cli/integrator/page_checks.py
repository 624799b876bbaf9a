"""A page of the shop as a client or a browser gets it, and its checks: tag, addresses, policy, consent, cookie."""

import os
import re
import shutil
import subprocess
import tempfile
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


class ShopFinding(NamedTuple):
    """One finding: a code for scripts, what is wrong, and what to do."""

    code: str
    message: str
    fix: str
    is_problem: bool = True


def notice(code: str, message: str, fix: str) -> ShopFinding:
    """Return a finding that does not fail CI."""
    return ShopFinding(code, message, fix, is_problem=False)


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
                text = f"The page's Content Security Policy forbids {url}."
                yield ShopFinding(f"policy_{kind}", text, f"Add {origin} to {directive}.")
    else:
        where = "" if page.console is not None else " A script may add it: install Chromium, and this looks there, too."
        message = f"There is no tag of the tracker on {page.url}.{where}"
        line = f'<script async src="{base_url}/js/svc-tracker.js" data-svc-program-id="{program_id}"></script>'
        yield ShopFinding("tracker_missing", message, f"Put {line} into the head of every page.")


def _response(page: ShopPage, domain: str) -> Iterator[ShopFinding]:
    host = urlsplit(page.url).hostname or ""
    if page.status != httpx2.codes.OK:
        yield ShopFinding("page_error", f"{page.url} answers {page.status}.", "Give the URL of a page for visitors.")
    is_within = f".{host}".endswith(f".{domain}")
    if domain and host not in LOCAL and not is_within:
        text = f"{host} is not on the program's domain {domain}."
        yield notice("other_domain", text, "Change the program's domain, or list this one in its further domains.")
    cookies = [each for each in page.headers.get_list("set-cookie") if each.startswith(f"{CLICK_COOKIE}=")]
    named = [SimpleCookie(each)[CLICK_COOKIE]["domain"].removeprefix(".") or host for each in cookies]
    if not named:
        text = "The shop's server does not set the cookie svc_click_id again, and Safari deletes it after 7 days."
        yield notice("cookie_by_script_only", text, "See the section Safari of .svc/AGENTS.md.")
    elif domain and is_within and named[0] != domain:  # a server may read either of the two
        text = f"The shop's server sets svc_click_id on {named[0]}, the tracker on {domain}: these are two cookies."
        yield ShopFinding("two_cookies", text, f"Set it with Domain={domain}, else an older click is credited.")


def check_key(url: str) -> Iterator[ShopFinding]:
    """Yield a problem if the shop's web server publishes the program key, as PHP's does with the project's folder."""
    for address in dict.fromkeys(urljoin(url, path) for path in ("/.svc/.env", ".svc/.env")):
        with suppress(httpx2.TransportError, httpx2.InvalidURL):
            if f"{project.KEY}=" in httpx2.get(address, timeout=TIMEOUT_SECONDS).text:
                fix = "Move it with `svc init --above`, then replace the key: svc init --generate-key."
                yield ShopFinding("key_published", f"Anyone can read the program key at {address}.", fix)


def _tag(page: ShopPage, tag: TrackerTag, program_id: str) -> Iterator[ShopFinding]:
    if not tag.program_id.isdigit():
        fix = f'Add data-svc-program-id="{program_id}".'
        yield ShopFinding("program_id_missing", "The tracker's tag has no program id.", fix)
    elif program_id and tag.program_id != program_id:
        text = f"The tag names program {tag.program_id}, SERVICE_PROGRAM_ID is {program_id}."
        yield ShopFinding("other_program", text, "Use the same program (or its sandbox) in both.")
    if len(page.tags) > 1:
        text = f"The page has {len(page.tags)} tags of the tracker."
        yield notice("tracker_twice", text, "Keep one; the first counts.")
    tool = next((name for name in CONSENT_TOOLS if name in page.html.lower()), None)
    if tag.needs_consent and "svc.consent" not in page.html:
        text = "The tracker waits for consent, and this page's HTML does not call window.svc.consent()."
        fix = "Call it after the visitor has agreed; a script file may do so already."
        yield notice("consent_never_given", text, fix)
    elif tool and not tag.needs_consent:
        text = f"The page uses {tool}, but the tracker does not wait for consent."
        yield notice("consent_not_awaited", text, 'Add data-svc-consent="required", and call window.svc.consent().')


def _addresses(page: ShopPage, tag: TrackerTag, base_url: str) -> Iterator[ShopFinding]:
    script, shop = urlsplit(tag.source), urlsplit(page.url)
    own = (script.hostname, script.port) == (shop.hostname, shop.port)
    if shop.scheme == "https" and script.scheme == "http":
        yield ShopFinding("mixed_content", f"{tag.source} is http on an https page.", "Load the tracker over https.")
    if script.hostname in LOCAL and shop.hostname not in LOCAL:
        yield ShopFinding("local_address", f"No visitor reaches {tag.source}.", f"Use {base_url}.")
    elif not own and not tag.source.startswith(f"{base_url}/"):
        text = f"The tracker comes from {tag.source}, not from {base_url} or the shop's own domain."
        yield notice("other_address", text, "Check SERVICE_BASE_URL and the tag's src.")
    fix = "Check the proxy's paths." if own else "Check the tag's src."
    try:
        found = httpx2.get(tag.source, timeout=TIMEOUT_SECONDS, follow_redirects=True)
        is_tracker = found.is_success and "svc_click_id" in found.text
        answered = f"answers {found.status_code}"
    except (httpx2.TransportError, httpx2.InvalidURL):
        is_tracker, answered = False, "does not respond"
    if not is_tracker:
        yield ShopFinding("script_unreachable", f"{tag.source} {answered}, or is not the tracker.", fix)
    try:  # an empty click gets the service's own error, and records nothing
        code = httpx2.post(f"{tag.calls}click", json={}, timeout=TIMEOUT_SECONDS).json()["error"]["code"]
    except (httpx2.TransportError, httpx2.InvalidURL, ValueError, KeyError, TypeError):
        code = None
    if code != "program_id_required":
        where = "a proxy forwards them" if own else "the tag says so"
        text = f"{tag.calls}click does not answer as the service does."
        yield ShopFinding("calls_unreachable", text, f"The tracker sends its calls there, because {where}. {fix}")


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
