"""The URL of a program's domain."""

import pytest

from storage.rules import host_name


@pytest.mark.parametrize(
    ("domain", "url"),
    [
        ("localhost:3000", "http://localhost:3000"),
        ("shop.localhost", "http://shop.localhost"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("shop.example", "https://shop.example"),
        ("localhost.example", "https://localhost.example"),
    ],
)
def test_a_domain_of_the_developers_machine_has_http_links(domain: str, url: str):
    assert host_name.url_of(domain) == url
