"""Client ID Metadata Documents: fetched over https from public addresses alone, small, soon, and never redirected.

The address that was checked is the one that is connected to: a name that resolves anew to somewhere inside gains
nothing (draft-ietf-oauth-client-id-metadata-document, 6.5).
"""

import socket
import ssl
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpcore2
from mcp.shared.auth import OAuthClientMetadata
from pydantic import ValidationError

LARGEST = 5 * 1024
SECONDS = 3
LONGEST_ID = 512
PUBLIC = "none"  # a client without a secret (RFC 7591, 2)
_TRANSLATED = ip_network("64:ff9b::/96")  # RFC 6052: an IPv4 address in the last four bytes


class DocumentRefusedError(Exception):
    """A client's document cannot be taken; the message says why."""


class Document(OAuthClientMetadata):
    """A client that describes itself; `client_id` is the document's own address."""

    client_id: str


def is_named(client_id: str) -> bool:
    """Say whether an id is the address of a document: https, with a path, without anything that hides another."""
    parts = urlsplit(client_id)
    hidden = parts.fragment or parts.username is not None or parts.password is not None or parts.query
    dots = {".", ".."} & set(parts.path.split("/"))
    sound = client_id.isascii() and client_id.isprintable() and len(client_id) <= LONGEST_ID
    return parts.scheme == "https" and bool(parts.hostname) and len(parts.path) > 1 and sound and not (hidden or dots)


def is_public(address: str) -> bool:
    """Say whether an IP address is one of the open internet, also where it carries another inside."""
    found = ip_address(address)
    carried = [found]
    if isinstance(found, IPv6Address):
        inner = [found.ipv4_mapped, found.sixtofour, *(found.teredo or ())]
        inner += [ip_address(int(found) & 0xFFFFFFFF)] if found in _TRANSLATED else []
        carried += [each for each in inner if each is not None]
    return all(each.is_global and not each.is_multicast for each in carried)


class Documents:
    """Fetches documents; hosts in `private_hosts` may be inside."""

    def __init__(self, private_hosts: Iterable[str] = ()) -> None:
        self._network = _PublicNetwork(frozenset(private_hosts))
        self._tls = ssl.create_default_context()

    async def fetch(self, client_id: str) -> Document:
        """Return the document at an address that `is_named`. Raises DocumentRefusedError."""
        try:
            with anyio.fail_after(SECONDS):
                content = await self._content(client_id)
            document = Document.model_validate_json(content)
        except TimeoutError:
            raise DocumentRefusedError(f"it did not arrive within {SECONDS} seconds") from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, OSError) as problem:
            raise DocumentRefusedError(f"its host does not answer: {problem}") from None
        except ValidationError as invalid:
            wrong = ", ".join(sorted({".".join(map(str, error["loc"])) or "JSON" for error in invalid.errors()}))
            raise DocumentRefusedError(f"it is no client metadata: {wrong}") from None
        if document.client_id != client_id:
            raise DocumentRefusedError("its client_id is not its own address")
        if document.token_endpoint_auth_method not in {None, PUBLIC}:
            raise DocumentRefusedError("its client is not a public one (token_endpoint_auth_method: none)")
        return document

    async def _content(self, address: str) -> bytes:
        headers = [("Accept", "application/json"), ("Host", urlsplit(address).netloc)]
        content = bytearray()
        async with (
            httpcore2.AsyncConnectionPool(ssl_context=self._tls, network_backend=self._network) as pool,
            pool.stream("GET", address, headers=headers) as response,
        ):
            if response.status != 200:  # noqa: PLR2004 - a redirect is no answer either
                raise DocumentRefusedError(f"its host answers {response.status}")
            async for piece in response.aiter_stream():
                content += piece
                if len(content) > LARGEST:
                    raise DocumentRefusedError(f"it is larger than {LARGEST} bytes")
        return bytes(content)


class _PublicNetwork(httpcore2.AnyIOBackend):
    """Connects to the address that was checked, and to no other."""

    def __init__(self, private_hosts: frozenset[str]) -> None:
        self._private_hosts = private_hosts

    async def connect_tcp(self, host: str, port: int, *options: Any, **named: Any) -> httpcore2.AsyncNetworkStream:
        """Connect to a host by its name. Raises DocumentRefusedError if any of its addresses is inside."""
        resolved = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [str(found[4][0]) for found in resolved]
        if host not in self._private_hosts and not all(map(is_public, addresses)):
            raise DocumentRefusedError("its host is not on the public internet")
        for address in addresses[:-1]:
            with suppress(httpcore2.ConnectError):
                return await super().connect_tcp(address, port, *options, **named)
        return await super().connect_tcp(addresses[-1], port, *options, **named)
