"""Clients: known by registering or by a document from the open internet alone, and where they may be answered."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configuration import Configuration
from storage import Storage
from tests.tracking_api.authorization.conftest import Flow
from tests.tracking_api.authorization.consenting import ClientHost
from tests.world import NOW
from tracking_api.authorization import redirects
from tracking_api.authorization.documents import LARGEST, DocumentRejectedError, Documents, is_document_url, is_public
from tracking_api.authorization.provider import Provider

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
PRIVATE = [
    *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1"),
    *("255.255.255.255", "192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1", "fd00::1", "ff02::1", "2001:db8::1"),
    *("::8.8.8.8", "fec0::1", "feff::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1"),
    *("64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a00:1::"),
    *("64:ff9b:1::808:808", "64:ff9b:1:fffe::7f00:1", "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8", "3fff::1"),
    *("3fff:fff::1", "5f00::1", "100::1", "100:0:0:1::1", "2001:2::1", "4000::1", "::2"),
]
PUBLIC = ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2a00:1450::1"]
DOCUMENTS = ["https://assistant.example/client.json", "https://assistant.example:8443/oauth/client"]
NO_DOCUMENTS = [
    *("http://assistant.example/client.json", "https://assistant.example", "https://assistant.example/"),
    *("https://assistant.example/a/../client.json", "https://user@assistant.example/client.json"),
    *("https://assistant.example/client.json?a=1", "https://assistant.example/client.json#part"),
    *(f"https://assistant.example/{'a' * 512}", "https:///client.json", "b6a8a0d2-registered"),
]


@pytest.fixture
def documents(trusted_host: ClientHost) -> Documents:
    """What fetches from a host that may be inside; made once the authority is trusted."""
    assert trusted_host.asked == []
    return Documents(["localhost"])


def test_an_ip_address_of_the_internet_is_public_and_a_private_one_in_no_notation():
    assert [address for address in [*PUBLIC, *PRIVATE] if is_public(address)] == PUBLIC


def test_only_a_plain_https_url_with_a_path_names_a_document():
    assert [url for url in [*DOCUMENTS, *NO_DOCUMENTS] if is_document_url(url)] == DOCUMENTS


INVALID: list[tuple[str, dict[str, Any] | None, str]] = [
    ("/client.json", {"client_id": "https://assistant.example/client.json"}, "its client_id is not its own URL"),
    ("/client.json", {"token_endpoint_auth_method": "private_key_jwt"}, "its client is not a public one"),
    ("/client.json", {"redirect_uris": []}, "it is no client metadata: redirect_uris"),
    ("/client.json", {"client_name": "n" * LARGEST}, "it is larger than"),
    ("/moved", None, "its host responds with 302"),
    ("/missing", None, "its host responds with 404"),
    ("/stall", None, "it did not arrive within 3 seconds"),
]


async def test_an_invalid_document_is_rejected_with_the_reason(documents: Documents, trusted_host: ClientHost):
    for path, members, reason in INVALID:
        address = f"{trusted_host.base_url}{path}" if members is None else trusted_host.publish(path, **members)

        with pytest.raises(DocumentRejectedError, match=reason):
            await documents.fetch(address)


async def test_the_service_does_not_connect_to_a_private_host_nor_tell_it_from_one_that_does_not_exist(
    trusted_host: ClientHost,
):
    answers = set()
    for client_id in (trusted_host.publish(), "https://no-such-host.invalid/client.json", "https://10.0.0.1/c.json"):
        with pytest.raises(DocumentRejectedError, match="not on the public internet") as rejection:
            await Documents().fetch(client_id)
        answers.add(str(rejection.value))

    assert len(answers) == 1
    assert trusted_host.asked == []


async def test_an_untrusted_certificate_is_rejected(client_host: ClientHost):
    with pytest.raises(DocumentRejectedError, match="its host does not respond"):
        await Documents(["localhost"]).fetch(client_host.publish())

    assert client_host.asked == []


async def test_ssrf_a_client_with_a_document_on_a_private_host_gets_the_reason(flow: Flow):
    asked = await flow.authorize(client_id="https://[::1]/client.json")

    assert (asked.status_code, asked.json()["error"]) == (400, "invalid_client")
    assert "not on the public internet" in asked.json()["error_description"]


async def test_a_document_is_fetched_once_a_day_and_its_client_works_while_its_host_is_down(
    store: Storage, documents: Documents, trusted_host: ClientHost
):
    async def name(**later: float) -> str | None:
        provider = Provider(store, Configuration(), documents, clock=lambda: NOW + timedelta(**later))
        await provider.fetch_client(client_id)
        client = await provider.get_client(client_id)
        assert client is not None
        return client.client_name

    client_id = trusted_host.publish(client_name="First")
    first = await name()
    trusted_host.publish(client_name="Second")

    assert [first, await name(hours=23), await name(days=1)] == ["First", "First", "Second"]
    assert len(trusted_host.asked) == 2
    del trusted_host.documents["/client.json"]
    assert await name(days=3) == "Second"
    with pytest.raises(DocumentRejectedError):
        await Provider(store, Configuration(), documents, clock=lambda: NOW).fetch_client(f"{client_id}.other")


async def test_every_registered_client_is_public_and_has_a_usable_redirect_url(unregistered: Flow):
    unusable = await unregistered.register(redirect_uris=["javascript://assistant.example/%0aalert(1)"])
    answer = await unregistered.register(token_endpoint_auth_method="client_secret_post", client_name="A\u202e\u200bB")

    registered = answer.json()
    assert answer.status_code == 201
    assert registered["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in registered
    assert (await unregistered.authorize()).status_code == 302
    assert (unusable.status_code, unusable.json()["error"]) == (400, "invalid_redirect_uri")


def test_https_this_machine_and_an_applications_own_scheme_are_acceptable_and_what_a_browser_would_run_is_not():
    assert [uri for uri in [*ACCEPTABLE, *REJECTED] if redirects.is_acceptable(uri)] == ACCEPTABLE


@given(port=st.integers(min_value=1, max_value=65535))
def test_only_a_loopback_url_matches_with_any_port_and_every_other_part_exactly(port: int):
    for registered, asked, matches in (
        ("http://127.0.0.1/cb", f"http://127.0.0.1:{port}/cb", True),
        ("http://localhost:1234/cb", f"http://localhost:{port}/cb", True),
        ("http://[::1]/cb", f"http://[::1]:{port}/cb", True),
        ("cursor://anysphere.cursor-mcp/oauth/cb", "cursor://anysphere.cursor-mcp/oauth/cb", True),
        ("https://a.example/cb", f"https://a.example:{port}/cb", False),
        ("http://127.0.0.1/cb", f"http://127.0.0.1:{port}/cb?more=1", False),
        ("http://127.0.0.1/cb", f"https://127.0.0.1:{port}/cb", False),
        ("http://127.0.0.1/cb", f"http://localhost:{port}/cb", False),
        ("http://127.0.0.1/cb", f"http://127.0.0.1:{port}/else", False),
    ):
        assert redirects.matches(registered, asked) is matches, (registered, asked)
