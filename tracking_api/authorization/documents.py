"""Client ID Metadata Documents: small files fetched over https from public IP addresses only, without redirects.

The service connects to the IP address that it checked, so that a host name which later resolves to a private IP
address does no harm (draft-ietf-oauth-client-id-metadata-document, 6.5).
"""

import socket
import ssl
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpcore2
from mcp.shared.auth import OAuthClientMetadata
from pydantic import ValidationError

from tracking_api.authorization import redirects

LARGEST = 5 * 1024
SECONDS = 3
LONGEST_ID = 512
PUBLIC = "none"  # a client without a secret (RFC 7591, 2)
_TRANSLATED = ip_network("64:ff9b::/96")  # RFC 6052: an IPv4 address in the last four bytes
# What is given out to hosts on the internet; beside it are NAT64 within a network, SIIT, SRv6, site-local addresses ...
_ALLOCATED = ip_network("2000::/3")
_DOCUMENTATION = ip_network("3fff::/20")  # RFC 9637, unknown to Python before 3.13
_UNREACHABLE = "its host does not respond, or is not on the public internet"


class DocumentRejectedError(Exception):
    """A client's document cannot be used; the message says why."""


class Document(OAuthClientMetadata):
    """A client's metadata; `client_id` is the document's own URL."""

    client_id: str


def is_document_url(client_id: str) -> bool:
    """Return whether an id is a document's URL: https, with a path, without user, query, fragment or dot segments."""
    parts = redirects.parts_of(client_id)
    if parts is None:
        return False
    hidden = parts.fragment or parts.username is not None or parts.password is not None or parts.query
    dots = {".", ".."} & set(parts.path.split("/"))
    is_page = bool(parts.hostname) and len(parts.path) > 1
    return parts.scheme == "https" and is_page and len(client_id) <= LONGEST_ID and not (hidden or dots)


def is_public(address: str) -> bool:
    """Return whether an IP address, and any IPv4 address in it, is public in IANA's registries (2025-10)."""
    ip = ip_address(address)
    all_ips: list[IPv4Address | IPv6Address | None] = [ip]
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or (IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _TRANSLATED else None)
        if inner is None and (ip not in _ALLOCATED or ip in _DOCUMENTATION):
            return False
        all_ips = [inner] if inner else [ip, ip.sixtofour, *(ip.teredo or ())]
    return all(each is None or (each.is_global and not each.is_multicast) for each in all_ips)


class Documents(httpcore2.AnyIOBackend):
    """Fetches documents, and connects only to the IP address that it checked; `private_hosts` may have private ones."""

    def __init__(self, private_hosts: Iterable[str] = ()) -> None:
        self._private_hosts = frozenset(private_hosts)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """The system's certificates, which take 40 ms to read: not before a document is fetched."""
        return ssl.create_default_context()

    async def fetch(self, client_id: str) -> Document:
        """Return the document at a URL that passes `is_document_url`. Raises DocumentRejectedError."""
        try:
            with anyio.fail_after(SECONDS):
                content = await self._content(client_id)
            document = Document.model_validate_json(content)
        except TimeoutError:
            raise DocumentRejectedError(f"it did not arrive within {SECONDS} seconds") from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, OSError):
            raise DocumentRejectedError(_UNREACHABLE) from None
        except ValidationError as invalid:
            wrong = ", ".join(sorted({".".join(map(str, error["loc"])) or "JSON" for error in invalid.errors()}))
            raise DocumentRejectedError(f"it is no client metadata: {wrong}") from None
        if document.client_id != client_id:
            raise DocumentRejectedError("its client_id is not its own URL")
        if document.token_endpoint_auth_method not in {None, PUBLIC}:
            raise DocumentRejectedError("its client is not a public one (token_endpoint_auth_method: none)")
        return document

    async def _content(self, url: str) -> bytes:
        headers = [("Accept", "application/json"), ("Host", urlsplit(url).netloc)]
        content = bytearray()
        async with (
            httpcore2.AsyncConnectionPool(ssl_context=self._tls, network_backend=self) as pool,
            pool.stream("GET", url, headers=headers) as response,
        ):
            if response.status != 200:  # noqa: PLR2004 - a redirect is an error, too
                raise DocumentRejectedError(f"its host responds with {response.status}")
            async for piece in response.aiter_stream():
                content += piece
                if len(content) > LARGEST:
                    raise DocumentRejectedError(f"it is larger than {LARGEST} bytes")
        return bytes(content)

    async def connect_tcp(self, host: str, port: int, *options: Any, **named: Any) -> httpcore2.AsyncNetworkStream:
        """Connect to a host by its name. Raises DocumentRejectedError if any of its IP addresses is private."""
        resolved = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [str(each[4][0]) for each in resolved]
        if host not in self._private_hosts and not all(map(is_public, addresses)):
            raise DocumentRejectedError(_UNREACHABLE)
        for address in addresses[:-1]:
            with suppress(httpcore2.ConnectError):
                return await super().connect_tcp(address, port, *options, **named)
        return await super().connect_tcp(addresses[-1], port, *options, **named)
