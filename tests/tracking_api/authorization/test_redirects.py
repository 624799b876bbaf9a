"""Where an authorization may be sent back to."""

from hypothesis import given
from hypothesis import strategies as st

from tracking_api.authorization import redirects

HTTPS, LOOPBACK, OWN = "https://assistant.example/cb", "http://127.0.0.1:3000/cb", "com.example.app:/cb"


ACCEPTABLE = [
    *(HTTPS, LOOPBACK, OWN, "http://localhost/cb", "http://[::1]:3000/cb", "cursor://app/cb", "vscode://a/cb"),
    "claude:/cb",
]
REJECTED = [
    *("", "cb", "/cb", "//assistant.example/cb", "http://assistant.example/cb", "https:///cb", "https://a b/cb"),
    *("javascript:alert(1)", "JavaScript://a/%0aalert(1)", "data:text/html,a", "vbscript://a", "file:///a"),
    *("https://a.example/cb#part", "https://a.example/cb#", "https://user@a.example/cb", "https://a.example:x/cb"),
    *("https://a;b.example/cb", "https://a,b.example/cb", "https://a'b.example/cb", "https://é.example/cb"),
    *("ms-msdt:/id", "ms-msdt://a", "search-ms://a", "ms-officecmd:{}", "steam://run/1", "zoommtg://a", "tel:1"),
    *("ssh://a", "callback:", "app:cb", "wss://a.example", f"https://a.example/{'a' * 1024}"),
]


def test_https_this_machine_and_an_applications_own_scheme_are_acceptable_and_what_a_browser_would_run_is_not():
    assert [uri for uri in [*ACCEPTABLE, *REJECTED] if redirects.is_acceptable(uri)] == ACCEPTABLE


@given(port=st.integers(min_value=1, max_value=65535))
def test_only_a_loopback_url_matches_with_any_port(port: int):
    assert redirects.matches("http://127.0.0.1/cb", f"http://127.0.0.1:{port}/cb")
    assert not redirects.matches("https://a.example/cb", f"https://a.example:{port}/cb")
    assert not redirects.matches("http://127.0.0.1/cb", f"http://127.0.0.1:{port}/cb?more=1")
    assert not redirects.matches("http://127.0.0.1/cb", f"https://127.0.0.1:{port}/cb")


def test_every_other_part_of_a_url_matches_exactly():
    for registered, asked, matches in (
        ("http://localhost:1234/cb", "http://localhost:4321/cb", True),
        ("http://[::1]/cb", "http://[::1]:49152/cb", True),
        ("cursor://anysphere.cursor-mcp/oauth/cb", "cursor://anysphere.cursor-mcp/oauth/cb", True),
        ("http://127.0.0.1/cb", "http://localhost/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:49152/else", False),
    ):
        assert redirects.matches(registered, asked) is matches, (registered, asked)


def test_a_url_has_an_origin_for_policies_and_a_host_for_people():
    named = [(redirects.origin(uri), redirects.host(uri)) for uri in (HTTPS, OWN)]

    assert named == [("https://assistant.example", "assistant.example"), ("com.example.app:", "com.example.app:")]
