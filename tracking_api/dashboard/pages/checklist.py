"""The integration checklist: what is proved, and the exact lines that prove the next step."""

from starlette.requests import Request
from starlette.responses import Response

from storage import checklist, partners
from storage.pages import Paging
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import seen, snippets, templates
from tracking_api.dashboard.pages.partners import referral_link


async def show(request: Request) -> Response:
    """Show every step, with a snippet for those that are open."""
    see = await seen.as_member(request)
    storage = storage_of(request)
    steps = await storage.read(checklist.read, see.program.id)
    newest = await storage.read(partners.listed, see.program.id, Paging(1))
    link = referral_link(see, newest.data[0].code) if newest.data else None
    shown = [(step, snippets.of_step(step.step, see, link)) for step in steps]
    return templates.render(request, "checklist.html", seen=see, steps=shown)
