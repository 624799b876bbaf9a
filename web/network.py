"""The network that a request comes from: what limits count as one client."""

from ipaddress import IPv6Address, ip_address

from starlette.requests import Request

PREFIX_BITS = 64  # of IPv6: one customer's network


def network_of(request: Request) -> str:
    """Return the client's IPv4 address, or the /64 of its IPv6 address."""
    return network(request.client.host if request.client else "unknown")


def network(host: str) -> str:
    """Return an IPv4 address as it is, the /64 of an IPv6 address, and any other name as it is."""
    if ":" not in host:
        return host
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return f"{IPv6Address(int(address) >> PREFIX_BITS << PREFIX_BITS)}/{PREFIX_BITS}"
