"""Dry runs: a request with the header gets the response that it would get, marked `dry_run`, and nothing is stored."""

from storage.rules.errors import ValidationError
from web.response import JsonResponse

HEADER = "Svc-Dry-Run"
NAME = HEADER.lower().encode()
MEANING = "`true`: a dry run. The call gets the response that it would get, with `dry_run` true, and stores nothing."


def is_wanted(header: str | None) -> bool:
    """Return whether a request's header asks for a dry run. Raises ValidationError unless it is true or false."""
    sent = "false" if header is None else header.strip().lower()
    if sent not in {"true", "false"}:
        raise ValidationError.of(HEADER, "true or false")
    return sent == "true"


def mark(response: JsonResponse) -> JsonResponse:
    """Say in a response's body that it is of a dry run."""
    response.body = {"dry_run": True, **response.body}
    return response
