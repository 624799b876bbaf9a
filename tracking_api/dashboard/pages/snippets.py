"""The lines that prove a step of the checklist, from the guide that says how to verify; a secret is never in them."""

from typing import NamedTuple

from presentation import guides
from tracking_api.dashboard.pages.page_context import PageContext

STEPS = {
    "tracker_installed": ("Install the tracker", "Put this line into the head of every page of your site."),
    "test_click": ("Send a test click", "From a terminal that has the program key:"),
    "test_lead": ("Send a test lead", "The same, as your server will do it:"),
    "test_sale": ("Send a test sale", "It makes no commission:"),
    "live_click": ("See a live click", "Open a partner's referral link in your browser, or do as the tracker does:"),
    "live_lead": ("Report a live lead", "From your server, when a visitor signs up:"),
    "live_sale": ("Report a live sale", "From your server, when a customer pays:"),
}


class Snippet(NamedTuple):
    """What a step is called, when it is done, and what to copy."""

    title: str
    how: str
    code: str


def of_steps(see: PageContext, code: str | None) -> dict[str, Snippet]:
    """Return the snippet of every checklist step; `code` is a partner's, None while there is no partner."""
    lines = guides.blocks("verify", guides.filling(see.program, base_url=see.base_url, code=code))
    return {step: Snippet(title, how, lines[step]) for step, (title, how) in STEPS.items()}
