"""The exception handlers of every app: Starlette's exceptions and our errors get the same error body."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp

from storage.rules.errors import InternalError, MethodNotAllowed, NotFound, ServiceError
from web.error_page import error_in_client_format


async def on_service_error(request: Request, rejection: Exception) -> ASGIApp:
    """Respond to an error that an endpoint raised."""
    assert isinstance(rejection, ServiceError)  # noqa: S101 - registered for this class alone
    return error_in_client_format(rejection, request.scope)


async def on_http_exception(request: Request, error: Exception) -> ASGIApp:
    """Respond to Starlette's own 404 and 405."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class alone
    rejection = MethodNotAllowed() if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED else NotFound()
    return error_in_client_format(rejection, request.scope, error.headers)


async def on_error(request: Request, error: Exception) -> ASGIApp:  # noqa: ARG001 - Starlette raises it on to the middleware, which logs it
    """Respond to an unexpected error, without a trace of it."""
    return error_in_client_format(InternalError(), request.scope)


HANDLERS: Mapping[Any, Any] = {ServiceError: on_service_error, HTTPException: on_http_exception, Exception: on_error}
