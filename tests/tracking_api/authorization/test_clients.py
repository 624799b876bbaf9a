"""Clients: known by registering or by a document from the open internet alone, and where they may be answered."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configuration import Configuration
from storage import Storage
from tests.tables import table
from tests.tracking_api.authorization.conftest import Flow
from tests.tracking_api.authorization.consenting import ClientHost
from tests.world import NOW
from tracking_api.authorization import redirects
from tracking_api.authorization.documents import LARGEST, DocumentRejectedError, Documents, is_document_url, is_public
from tracking_api.authorization.provider import Provider

URLS: dict[str, Any] = table("tracking_api/authorization/urls.toml")


@pytest.fixture
def documents(trusted_host: ClientHost) -> Documents:
    """What fetches from a host that may be inside; made once the authority is trusted."""
    assert trusted_host.asked == []
    return Documents(["localhost"])


def test_an_ip_address_of_the_internet_is_public_and_a_private_one_in_no_notation():
    public, private = URLS["addresses"].values()

    assert [address for address in [*public, *private] if is_public(address)] == public


def test_only_a_plain_https_url_with_a_path_names_a_document():
    named, not_named = URLS["documents"].values()
    long = f"https://assistant.example/{'a' * 512}"

    assert [url for url in [*named, *not_named, long] if is_document_url(url)] == named


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
    acceptable, rejected = URLS["redirects"].values()
    long = f"https://a.example/{'a' * 1024}"

    assert [uri for uri in [*acceptable, *rejected, long] if redirects.is_acceptable(uri)] == acceptable


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
