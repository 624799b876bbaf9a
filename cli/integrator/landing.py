"""The landing page of a partner's link: of the program's domain, or of this machine while the shop is developed."""

from urllib.parse import quote

LOCAL = ("localhost", "127.0.0.1", "0.0.0.0")  # noqa: S104 - compared, not bound


def url(domain: str, code: str) -> str:
    """Return the link of a partner: `https`, or `http` on the developer's own machine."""
    host = domain.partition(":")[0]
    scheme = "http" if host in LOCAL or host.endswith(".localhost") else "https"
    return f"{scheme}://{domain}/?aff={quote(code, safe='')}"
