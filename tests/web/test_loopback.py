"""A service on this machine uses the name that the client used; other services do not."""

import pytest

from web.loopback import called


@pytest.mark.parametrize(
    ("base_url", "host", "address"),
    [
        ("http://127.0.0.1:8000", "localhost:8000", "http://localhost:8000"),
        ("http://127.0.0.1:8000", "[::1]:8000", "http://[::1]:8000"),
        ("http://localhost:8000", "127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000", "localhost:9000", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000", "evil.example:8000", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000", "localhost:x", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000", "", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000", "user@localhost:8000", "http://127.0.0.1:8000"),
        ("https://track.example", "localhost", "https://track.example"),
        ("https://track.example", "track.example", "https://track.example"),
    ],
)
def test_a_name_of_this_machine_is_as_good_as_another_at_the_same_port(base_url: str, host: str, address: str):
    assert called(base_url, host) == address
