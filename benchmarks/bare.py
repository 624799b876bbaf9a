"""The ceiling: a bare Starlette route that parses a JSON body and returns JSON, and stores nothing.

It gets whatever the service gives itself that is not its own work: the loop, the parser, the collector's settings.
"""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from web import garbage


async def echo(request: Request) -> JSONResponse:
    body = await request.json()
    return JSONResponse({"success": True, "click_id": "0" * 34, "partner_code": len(body), "cookie_window_days": 60})


app = Starlette(routes=[Route("/echo", echo, methods=["POST"])])
garbage.settle()
