"""Starlette's exceptions and our refusals, answered in the one error shape; every app installs these."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from storage.rules.errors import InternalError, MethodNotAllowed, NotFound, Refusal
from web.answer import Answer, refused


async def on_refusal(request: Request, refusal: Exception) -> Answer:
    """Answer a refusal that an endpoint raised."""
    assert isinstance(refusal, Refusal)  # noqa: S101 - registered for this class alone
    return refused(refusal, request.scope["request_id"])


async def on_http_exception(request: Request, error: Exception) -> Answer:
    """Answer Starlette's own 404 and 405."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class alone
    refusal = MethodNotAllowed() if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED else NotFound()
    answer = refused(refusal, request.scope["request_id"])
    answer.headers = {**answer.headers, **(error.headers or {})}
    return answer


async def on_error(request: Request, error: Exception) -> Answer:  # noqa: ARG001 - Starlette raises it on to the gate, which logs it
    """Answer what nobody foresaw: no trace of it leaves the house."""
    return refused(InternalError(), request.scope["request_id"])


HANDLERS: Mapping[Any, Any] = {Refusal: on_refusal, HTTPException: on_http_exception, Exception: on_error}
