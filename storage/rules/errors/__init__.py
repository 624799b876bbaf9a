"""Every error that the service can give: one class for each fact. texts.toml has their messages and hints.

The list is closed. Guides, hints, the dashboard's advice and OpenAPI's descriptions come from these classes.
"""

from storage.rules.errors.requests import *
from storage.rules.errors.service_error import TEXTS as TEXTS
from storage.rules.errors.service_error import FieldError as FieldError
from storage.rules.errors.service_error import ServiceError as ServiceError
from storage.rules.errors.tracking import *

BY_CODE = dict.fromkeys(TEXTS, ServiceError) | {error.code: error for error in ServiceError.__subclasses__()}
CODES = sorted(BY_CODE)


def hint_of(code: str) -> str | None:
    """Return what to do about an error; None for a code that this version does not know."""
    return BY_CODE[code].hint if code in BY_CODE else None
