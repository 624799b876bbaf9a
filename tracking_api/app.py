"""The route table of the tracking surface: read this first. Hot routes come first."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from configuration import Configuration
from presentation import openapi
from presentation.operations import DescribedRoute, Description, route
from storage import Storage
from storage.rules.contact import AddressHashes
from tracking_api import assets, guides, probes, stripe_events
from tracking_api.authorization import app as authorization
from tracking_api.calls import call, click, fields, handover, lead, refund, sale, status
from tracking_api.calls.visitors import Places
from tracking_api.dashboard import routes as dashboard
from tracking_api.dashboard.pages.page import HANDLERS
from tracking_api.dashboard.sessions import PasswordQueue
from tracking_api.portal import routes as portal
from web.app import now, with_state
from web.counts import Counts
from web.limits import REJECTED, RateLimits

WRONG_PASSWORDS = "10/15 minutes;30/2 hours;60/day"  # for one account, whatever they come from: the pauses grow
MAILS = "100/day"  # invitations and other e-mails that one owner can cause
# A POST to one of these skips the router, which would take a tenth of the call's time.
HOT: dict[str, ASGIApp] = {f"/api/v1/track/{one.name}": one for one in (click.endpoint, sale.endpoint, lead.endpoint)}


def _open(path: str, endpoint: Any, preflight: Description, **described: Description) -> DescribedRoute:
    """Return the route of a call that pages of other origins make, after a preflight."""
    name = f"preflight{path.rpartition('/')[2].title()}"
    return DescribedRoute(path, endpoint, **described, OPTIONS=preflight._replace(name=name))


ROUTES = [
    _open("/api/v1/track/click", click.endpoint, fields.PREFLIGHT, POST=click.DESCRIPTION, HEAD=click.HEAD_DESCRIPTION),
    DescribedRoute("/api/v1/track/sale", sale.endpoint, POST=sale.DESCRIPTION),
    _open("/api/v1/track/lead", lead.endpoint, fields.PREFLIGHT, POST=lead.DESCRIPTION),
    _open("/api/v1/track/handover", handover.HANDOVER, handover.PREFLIGHT, POST=handover.HANDOVER_DESCRIPTION),
    _open("/api/v1/track/redeem", handover.REDEEM, handover.PREFLIGHT, POST=handover.REDEEM_DESCRIPTION),
    DescribedRoute("/api/v1/track/refund", refund.endpoint, POST=refund.DESCRIPTION),
    DescribedRoute("/api/v1/cli/status", status.endpoint, GET=status.DESCRIPTION),
    DescribedRoute("/js/{name}", assets.tracker, GET=assets.TRACKER_DESCRIPTION),
    route("/healthz", GET=probes.get_health),
    route("/readyz", GET=probes.get_readiness),
    DescribedRoute("/docs", guides.list_guides, GET=guides.INDEX_DESCRIPTION),
    DescribedRoute("/docs/", guides.list_guides, GET=guides.INDEX_DESCRIPTION._replace(name="listGuidesWithSlash")),
    DescribedRoute("/docs/{name}", guides.guide, GET=guides.DESCRIPTION),
    DescribedRoute("/llms.txt", guides.llms_txt, GET=guides.MODELS_DESCRIPTION),
    DescribedRoute("/openapi.json", openapi.endpoint, GET=openapi.DESCRIPTION),
    route("/api/v1/payments/stripe/{program_id}", POST=stripe_events.receive_stripe_event),
    *dashboard.ROUTES,
    *dashboard.PAGES,
    *portal.PAGES,
]


class Tracking(Starlette):
    """The tracking app: Starlette, with a shortcut to the hot calls, and the sign-in of assistants beside it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        hot = HOT.get(scope["path"]) if scope["method"] == "POST" else None
        if hot is not None:
            scope["app"] = self
            scope["route_path"] = scope["path"]
            await hot(scope, receive, send)
        elif self.state.authorization and scope["path"].startswith(authorization.PATHS):
            await self.state.authorization(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def create(
    storage: Storage,
    settings: Configuration,
    *,
    counts: Counts | None = None,
    clock: Callable[[], datetime] = now,
    routes: Sequence[BaseRoute] = ROUTES,
    others: Sequence[BaseRoute] = (),
) -> Starlette:
    """Return the tracking app over an open storage; /openapi.json describes `others`, served beside it, too."""
    counts = counts or Counts()
    by_setting = ("public", "click", "lead", "keyed", REJECTED)
    rates = {name: settings.limited(getattr(settings, f"{name}_rate")) for name in by_setting}
    rates |= dict.fromkeys(("login", "password", "second_factor"), settings.login_rate)
    rates |= dict.fromkeys(("sign_in", "reset", "set_up"), settings.sign_in_rate)
    rates |= {"wrong": WRONG_PASSWORDS, "alert": "1/day", "mail": settings.limited(MAILS)}
    limits = RateLimits(rates | {"forgotten": f"{settings.login_rate};30/day"}, counts)
    around = (storage, settings, clock, limits, AddressHashes(settings.stored_secret), Places(settings))
    calls = call.CallServices(*around, known_programs=set(), sealer=cache(settings.sealer))
    may_sign_in = settings.assistants_sign_in
    return with_state(
        Tracking(routes=routes, exception_handlers=HANDLERS),
        storage=storage,
        settings=settings,
        sealer=calls.sealer,
        base_url=settings.base_url,
        clock=clock,
        limits=limits,
        passwords=PasswordQueue(),
        calls=calls,
        authorization=authorization.create(storage, settings, counts, clock=clock) if may_sign_in else None,
        openapi=None,
        build_openapi=lambda: to_json(openapi.document([*routes, *others], base_url=settings.base_url)),
    )
