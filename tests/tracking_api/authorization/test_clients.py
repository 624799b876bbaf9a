"""Clients become known by registering, or by their document: kept for a day, and through its host's bad days."""

from datetime import timedelta

import pytest

from storage import Storage
from tests.tracking_api.authorization.client_host import ClientHost
from tests.tracking_api.authorization.conftest import Flow
from tests.world import NOW
from tracking_api.authorization.clients import Clients
from tracking_api.authorization.documents import DocumentRejectedError, Documents


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """The surface is the same on each database: storage's own tests run on both."""
    return sqlite_url


@pytest.fixture
def clients(store: Storage, trusted_host: ClientHost) -> Clients:
    assert trusted_host.asked == []
    return Clients(store, Documents(["localhost"]))


async def test_a_document_is_fetched_once_a_day(clients: Clients, trusted_host: ClientHost):
    client_id = trusted_host.publish(client_name="First")
    await clients.refresh(client_id, at=NOW)
    trusted_host.publish(client_name="Second")
    await clients.refresh(client_id, at=NOW + timedelta(hours=23))
    same = await clients.find(client_id)
    await clients.refresh(client_id, at=NOW + timedelta(days=1))
    renewed = await clients.find(client_id)

    assert same is not None
    assert renewed is not None
    assert (same.client_name, renewed.client_name) == ("First", "Second")
    assert len(trusted_host.asked) == 2


async def test_a_known_client_works_while_its_host_is_down(clients: Clients, trusted_host: ClientHost):
    client_id = trusted_host.publish()
    await clients.refresh(client_id, at=NOW)
    del trusted_host.documents["/client.json"]

    await clients.refresh(client_id, at=NOW + timedelta(days=2))

    assert await clients.find(client_id) is not None
    with pytest.raises(DocumentRejectedError):
        await clients.refresh(f"{client_id}.other", at=NOW)


async def test_every_registered_client_is_public(unregistered: Flow):
    answer = await unregistered.register(token_endpoint_auth_method="client_secret_post", client_name="A\u202e\u200bB")

    registered = answer.json()
    assert answer.status_code == 201
    assert registered["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in registered
    assert (await unregistered.authorize()).status_code == 302


async def test_an_unusable_redirect_url_is_not_registered(unregistered: Flow):
    answer = await unregistered.register(redirect_uris=["javascript://assistant.example/%0aalert(1)"])

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")
