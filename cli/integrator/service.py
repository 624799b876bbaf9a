"""Calls to the service with JSON; a rejection is a Failure; rotation warnings are printed once."""

import json
from collections.abc import Iterator
from typing import Any, ClassVar

import httpx2

from cli.integrator.output import NOT_SET_UP, REJECTED, UNREACHABLE, Failure, warn

TIMEOUT_SECONDS = 20
UNAUTHORIZED = 401


class ServiceClient:
    """The service at a URL, with a credential (a program key or a session token) or without one."""

    _warned: ClassVar[set[str]] = set()  # a command says a warning once, however many calls it makes

    def __init__(self, base_url: str, credential: str | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {credential}"} if credential else {}

    def call(self, method: str, path: str, body: Any = None, *, auth: Any = None, **query: Any) -> dict[str, Any]:
        """Return the response; `auth` signs the request. Raises Failure: the service's, or `service_unreachable`."""
        sent = {name: value for name, value in query.items() if value is not None}
        about: Any = {"params": sent, "headers": self._headers, "auth": auth, "timeout": TIMEOUT_SECONDS}
        try:
            response = httpx2.request(method, f"{self.base_url}{path}", json=body, **about)
        except (httpx2.TransportError, httpx2.InvalidURL) as problem:
            hint = "Check that it runs, and its URL."
            raise self._outage("service_unreachable", f"does not respond: {problem}", hint) from None
        try:
            content = response.json()
        except json.JSONDecodeError:
            content = None
        if not isinstance(content, dict):
            text = f"answered {response.status_code}, but not as this service does."
            raise self._outage("not_the_service", text, "Check the URL.")
        for warning in content.get("warnings", ()):
            if warning.get("code") not in self._warned:
                self._warned.add(warning.get("code"))
                warn(str(warning.get("message")), str(warning.get("hint", "")))
        if not response.is_success:
            error = {"code": str(response.status_code), "message": "The call was rejected."}
            exit_code = NOT_SET_UP if response.status_code == UNAUTHORIZED else REJECTED
            raise Failure(**error | (content.get("error") or {}), exit_code=exit_code)
        return content

    def rows(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield every row of a list, page by page."""
        cursor = None
        while True:
            page = self.call("GET", path, limit=200, cursor=cursor)
            yield from page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _outage(self, code: str, text: str, hint: str) -> Failure:
        hint = f"{hint} Set SERVICE_BASE_URL or use --base-url."
        return Failure(code, f"{self.base_url} {text}", hint, exit_code=UNREACHABLE)
