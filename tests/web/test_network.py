"""What counts as one client."""

import pytest
from starlette.requests import Request

from web.network import network_of


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:aaaa:bbbb:cccc:dddd", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_a_client_is_an_ipv4_address_or_a_64_of_ipv6(host: str, network: str):
    assert network_of(Request({"type": "http", "client": (host, 1234)})) == network
