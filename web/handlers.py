"""Starlette's exceptions and our refusals, answered in the one error shape; every app installs these."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from storage.rules.errors import InternalError, MethodNotAllowed, NotFound, ServiceError
from web.response import JsonResponse, error_response


async def on_refusal(request: Request, refusal: Exception) -> JsonResponse:
    """Answer a refusal that an endpoint raised."""
    assert isinstance(refusal, ServiceError)  # noqa: S101 - registered for this class alone
    return error_response(refusal, request.scope["request_id"])


async def on_http_exception(request: Request, error: Exception) -> JsonResponse:
    """Answer Starlette's own 404 and 405."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class alone
    refusal = MethodNotAllowed() if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED else NotFound()
    answer = error_response(refusal, request.scope["request_id"])
    answer.headers = {**answer.headers, **(error.headers or {})}
    return answer


async def on_error(request: Request, error: Exception) -> JsonResponse:  # noqa: ARG001 - Starlette raises it on to the gate, which logs it
    """Answer what nobody foresaw: no trace of it leaves the house."""
    return error_response(InternalError(), request.scope["request_id"])


HANDLERS: Mapping[Any, Any] = {ServiceError: on_refusal, HTTPException: on_http_exception, Exception: on_error}
