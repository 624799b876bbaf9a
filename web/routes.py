"""Routes whose handlers stand beside their methods."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.routing import Route

from web.response import JsonResponse

Handler = Callable[[Request], Awaitable[JsonResponse]]


def route(path: str, **handlers: Handler) -> Route:
    """Return one route with a handler for each method, so that a 405 lists them all."""

    async def endpoint(request: Request) -> JsonResponse:
        return await handlers["GET" if request.method == "HEAD" else request.method](request)

    return Route(path, endpoint, methods=list(handlers))
