"""Content Security Policy: whether a page's policy lets the tracker load and send its calls."""

from urllib.parse import urlsplit

FALLBACKS = {"script": ("script-src-elem", "script-src", "default-src"), "connect": ("connect-src", "default-src")}
PORTS = {"http": 80, "https": 443}


def allows(policy: str, kind: str, url: str, *, page_url: str, nonce: str = "") -> bool:
    """Say whether a policy allows a script, or a connection, to a URL.

    With 'strict-dynamic' a script that another one adds is allowed, which only a browser knows: then this says yes.
    """
    directives = {parts[0].lower(): parts[1:] for each in policy.split(";") if (parts := each.split())}
    sources = next((directives[name] for name in FALLBACKS[kind] if name in directives), None)
    if sources is None or "'strict-dynamic'" in sources or (nonce and f"'nonce-{nonce}'" in sources):
        return True
    return any(_matches(source.lower(), url, page_url) for source in sources)


def _matches(source: str, url: str, page_url: str) -> bool:
    target, page = urlsplit(url), urlsplit(page_url)
    if source == "'self'":
        return _origin(url) == _origin(page_url)
    if source == "*":
        return target.scheme in PORTS
    if source.endswith(":"):
        return f"{target.scheme}:" == source
    host = urlsplit(source if "://" in source else f"{page.scheme}://{source}")
    schemes = {host.scheme, "https"} if host.scheme == "http" else {host.scheme}
    return (
        target.scheme in schemes
        and _host_matches(host.hostname or "", target.hostname or "")
        and _port_matches(host.netloc, url)
    )


def _host_matches(pattern: str, host: str) -> bool:
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


def _port_matches(pattern: str, url: str) -> bool:
    port = pattern.rpartition(":")[2] if ":" in pattern else ""
    return port == "*" or (int(port) if port.isdigit() else PORTS.get(urlsplit(url).scheme)) == _origin(url)[2]


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or PORTS.get(parts.scheme)
