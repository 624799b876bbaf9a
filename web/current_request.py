"""The request that is being served, for the lines that are logged meanwhile."""

from contextvars import ContextVar

from starlette.types import Scope

current: ContextVar[Scope | None] = ContextVar("current_request", default=None)
