"""A client's document is fetched over https from the open internet alone: nothing inside is reached by naming it."""

import ssl
from typing import Any

import pytest

from tests.tracking_api.authorization.client_host import ClientHost
from tests.tracking_api.authorization.conftest import Flow
from tracking_api.authorization.documents import LARGEST, DocumentRejectedError, Documents, is_document_url, is_public


@pytest.fixture
def documents(trusted_host: ClientHost) -> Documents:
    """What fetches from a host that may be inside; made once the authority is trusted."""
    assert trusted_host.base_url.startswith("https://localhost:")
    return Documents(["localhost"])


PRIVATE = [
    *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1"),
    *("255.255.255.255", "192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1", "fd00::1", "ff02::1", "2001:db8::1"),
    *("::8.8.8.8", "fec0::1", "feff::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1"),
    *("64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a00:1::"),
]
PUBLIC = ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
DOCUMENTS = ["https://assistant.example/client.json", "https://assistant.example:8443/oauth/client"]
NO_DOCUMENTS = [
    *("http://assistant.example/client.json", "https://assistant.example", "https://assistant.example/"),
    *("https://assistant.example/a/../client.json", "https://user@assistant.example/client.json"),
    *("https://assistant.example/client.json?a=1", "https://assistant.example/client.json#part"),
    *(f"https://assistant.example/{'a' * 512}", "https:///client.json", "b6a8a0d2-registered"),
]


def test_an_ip_address_of_the_internet_is_public_and_a_private_one_in_no_notation():
    assert [address for address in [*PUBLIC, *PRIVATE] if is_public(address)] == PUBLIC


def test_only_a_plain_https_url_with_a_path_names_a_document():
    assert [url for url in [*DOCUMENTS, *NO_DOCUMENTS] if is_document_url(url)] == DOCUMENTS


async def test_a_document_identifies_a_client(documents: Documents, trusted_host: ClientHost):
    client_id = trusted_host.publish(client_name="Helper", redirect_uris=["https://assistant.example/callback"])

    document = await documents.fetch(client_id)

    assert (document.client_id, document.client_name) == (client_id, "Helper")


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


async def test_the_service_does_not_connect_to_a_private_host(trusted_host: ClientHost):
    client_id = trusted_host.publish()

    with pytest.raises(DocumentRejectedError, match="not on the public internet"):
        await Documents().fetch(client_id)

    assert trusted_host.asked == []


async def test_a_name_that_does_not_exist_and_one_inside_get_one_answer(trusted_host: ClientHost):
    answers = []
    for client_id in (trusted_host.publish(), "https://no-such-host.invalid/client.json", "https://10.0.0.1/c.json"):
        with pytest.raises(DocumentRejectedError) as rejection:
            await Documents().fetch(client_id)
        answers.append(str(rejection.value))

    assert len(set(answers)) == 1


async def test_an_untrusted_certificate_is_rejected(client_host: ClientHost):
    with pytest.raises(DocumentRejectedError, match="its host does not respond"):
        await Documents(["localhost"]).fetch(client_host.publish())

    assert client_host.asked == []


async def test_ssrf_a_client_with_a_document_on_a_private_host_gets_the_reason(flow: Flow, trusted_host: ClientHost):
    asked = [
        await flow.authorize(client_id=client_id)
        for client_id in (trusted_host.publish(), "https://127.0.0.1/client.json", "https://[::1]/client.json")
    ]

    assert {answer.status_code for answer in asked} == {400}
    assert {answer.json()["error"] for answer in asked} == {"invalid_client"}
    assert all("not on the public internet" in answer.json()["error_description"] for answer in asked)
    assert trusted_host.asked == []
    assert ssl.create_default_context().verify_mode == ssl.CERT_REQUIRED
