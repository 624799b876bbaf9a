"""One request over HTTP: no redirects, no wait beyond the deadline, no answer larger than a megabyte."""

import json
import time
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

LARGEST_ANSWER = 1024 * 1024
PIECE = 16 * 1024


class Answer(NamedTuple):
    """A response; `content` is empty unless the body is a JSON object."""

    http_status: int
    content: dict[str, Any]


class NoRedirects(HTTPRedirectHandler):
    """A redirect would carry the key to another server."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow none."""


OPENER = build_opener(NoRedirects)


def post(url: str, body: str, headers: dict[str, str], *, deadline: float) -> Answer | str:
    """Return the response, or why there is none."""
    if not url.startswith(("http://", "https://")):
        return f"{url} is not an http or https URL."
    request = Request(url, body.encode(), headers, method="POST")  # noqa: S310 - the scheme is checked above
    try:
        with OPENER.open(request, timeout=max(deadline - time.monotonic(), 0.001)) as response:
            return Answer(response.status, _content(response, deadline))
    except HTTPError as rejection:
        with rejection:
            return Answer(rejection.code, _content(rejection, deadline))
    except (OSError, HTTPException, ValueError) as problem:
        return f"{url} does not respond: {problem}"


def _content(response: Any, deadline: float) -> dict[str, Any]:
    read = bytearray()
    while piece := response.read1(PIECE):
        read += piece
        if len(read) > LARGEST_ANSWER or time.monotonic() > deadline:
            return {}
    try:
        content = json.loads(read)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}
