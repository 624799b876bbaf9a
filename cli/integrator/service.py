"""Calls to the service with JSON; a rejection is a Failure; rotation warnings are printed once."""

import json
from typing import Any, ClassVar

import httpx2

from cli.integrator.output import NOT_SET_UP, UNREACHABLE, Failure, warn

TIMEOUT_SECONDS = 20
UNAUTHORIZED = 401


class ServiceClient:
    """The service at a URL, with a credential (a program key or a session token) or without one."""

    _warned: ClassVar[set[str]] = set()  # a command says a warning once, however many calls it makes

    def __init__(self, base_url: str, credential: str | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {credential}"} if credential else {}

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> dict[str, Any]:
        """Return the response. Raises Failure with the service's code, or `service_unreachable`."""
        sent = {name: value for name, value in query.items() if value is not None}
        return self._answer(self._send(method, path, json=body, params=sent, headers=self._headers))

    def deliver(self, path: str, content: str, **headers: str) -> dict[str, Any]:
        """Post a signed body and return the response. Raises Failure."""
        sent = {"Content-Type": "application/json", **headers}
        return self._answer(self._send("POST", path, content=content, headers=sent))

    def _answer(self, response: httpx2.Response) -> dict[str, Any]:
        content = self._content(response)
        for warning in content.get("warnings", ()):
            self._warn(warning)
        if response.is_success:
            return content
        error = dict(content.get("error") or {})
        code, message = (
            str(error.pop("code", response.status_code)),
            str(error.pop("message", "The call was rejected.")),
        )
        exit_code = NOT_SET_UP if response.status_code == UNAUTHORIZED else 1
        raise Failure(code, message, error.pop("hint", ""), exit_code=exit_code, **error)

    def _send(self, method: str, path: str, **sent: Any) -> httpx2.Response:
        try:
            return httpx2.request(method, f"{self.base_url}{path}", timeout=TIMEOUT_SECONDS, **sent)
        except (httpx2.TransportError, httpx2.InvalidURL) as problem:
            raise Failure(
                "service_unreachable",
                f"{self.base_url} does not respond: {problem}",
                "Check that it runs, and its URL. Set SERVICE_BASE_URL or use --base-url.",
                exit_code=UNREACHABLE,
            ) from None

    def _content(self, response: httpx2.Response) -> dict[str, Any]:
        try:
            content = response.json()
        except json.JSONDecodeError:
            content = None
        if not isinstance(content, dict):
            raise Failure(
                "not_the_service",
                f"{self.base_url} answered {response.status_code}, but not as this service does.",
                "Check the URL. Set SERVICE_BASE_URL or use --base-url.",
                exit_code=UNREACHABLE,
            )
        return content

    def _warn(self, warning: dict[str, Any]) -> None:
        code = str(warning.get("code"))
        if code not in self._warned:
            self._warned.add(code)
            warn(str(warning.get("message")), str(warning.get("hint", "")))
