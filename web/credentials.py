"""Credentials in request headers: `Authorization: Bearer` (RFC 6750) and `X-Agent-Key`."""


def bearer(header: str | None) -> str | None:
    """Return the credential of an `Authorization: Bearer` header (RFC 6750, scheme case-insensitive), else None."""
    scheme, _, credential = (header or "").partition(" ")
    credential = credential.strip()
    return credential if scheme.lower() == "bearer" and credential else None


def agent_credential(authorization: str | None, agent_key: str | None) -> str | None:
    """Return what an agent presents: its `Authorization`, else its `X-Agent-Key`."""
    return bearer(authorization) or (agent_key or "").strip() or None
