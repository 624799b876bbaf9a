"""Descriptions of tracking calls for the OpenAPI document: the credential, the rotation headers and the errors."""

from typing import Any

from presentation.operations import ALWAYS, ANYONE, Description, Error, Model
from storage.rules.errors import ApiKeyRotationRequired, InvalidKey, RateLimited
from web.body import IDEMPOTENCY_KEY

KEY = {"programKey": ()}
IDEMPOTENT = {
    IDEMPOTENCY_KEY: "With the program key: a repeat with the same body within 30 days only gets the first response."
}
CORS = "Access-Control-Allow-Origin"
PREFLIGHT = Description(
    "preflight",
    "CORS preflight",
    {204: ()},
    tag="tracking",
    response_headers=(CORS, "Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Access-Control-Max-Age"),
)


def keyed_call(name: str, summary: str, *errors: Error, responses: tuple[Model, ...], **options: Any) -> Description:
    """Describe a call that takes the program key."""
    errors = (*errors, InvalidKey, ApiKeyRotationRequired, RateLimited, *ALWAYS)
    rotation = ("Deprecation", "Sunset", "Link", "Idempotency-Replayed")
    keyed = Description(name, summary, {200: responses}, errors, tag="tracking", security=(KEY,))
    return keyed._replace(response_headers=rotation, **options)


def public_call(name: str, summary: str, *errors: Error, responses: tuple[Model, ...], **options: Any) -> Description:
    """Describe a call that pages of any origin may make, with or without the program key."""
    described = keyed_call(name, summary, *errors, responses=responses, **options)
    return described._replace(security=(ANYONE, KEY), response_headers=(CORS, *described.response_headers))
