"""Dry runs: a request with the header gets the response that it would get, marked `dry_run`, and nothing is stored."""

from storage.rules.errors import ValidationError
from web.response import JsonResponse

HEADER = "Svc-Dry-Run"
NAME = HEADER.lower().encode()
MEANING = "`true`: a dry run. The call gets the response that it would get, with `dry_run` true, and stores nothing."
_VALUES = {"true": True, "false": False}


def is_wanted(header: str | None) -> bool:
    """Return whether a request's header asks for a dry run. Raises ValidationError unless it is true or false."""
    if header is None:
        return False
    if (wanted := _VALUES.get(header.strip().lower())) is None:
        raise ValidationError.of(HEADER, "true or false")
    return wanted


def mark(response: JsonResponse) -> JsonResponse:
    """Say in a response's body that it is of a dry run."""
    response.body = {"dry_run": True, **response.body}
    return response
