"""How to do each step of the checklist: a page to open, or a snippet from the guide `verify`, never with a secret."""

from typing import NamedTuple

from presentation import guides
from tracking_api.dashboard.pages.page_context import PageContext

STEPS = {
    "tracker_installed": ("Install the tracker", "Put this line into the head of every page of your site."),
    "test_click": ("Send a test click", "Run this in a terminal that has the program key:"),
    "test_lead": ("Send a test lead", "Send it as your server will:"),
    "test_sale": ("Send a test sale", "A test sale earns no commission:"),
    "live_click": (
        "Send a live click",
        "Open a partner's referral link in your browser, or send the call of the tracker:",
    ),
    "live_lead": ("Send a live lead", "Send it from your server when a visitor signs up:"),
    "live_sale": ("Send a live sale", "Send it from your server when a customer pays:"),
}


FIRST_STEPS = {
    "program_key": (
        "Create the program key",
        "Your server sends it with leads, sales and refunds. It is shown once.",
        ("/settings/api-keys", "Create the key"),
    ),
    "first_partner": (
        "Add a partner",
        "A person or a site that recommends you. Use your own name to try it out.",
        ("/partners", "Add a partner"),
    ),
}


class Snippet(NamedTuple):
    """The title of a step, how to do it, and the code to copy or the page to open: its path and the link's text."""

    title: str
    how: str
    code: str
    page: tuple[str, str] | None = None


def of_steps(context: PageContext, code: str | None) -> dict[str, Snippet]:
    """Return the snippet of every checklist step; `code` is a partner's, None while there is no partner."""
    lines = guides.blocks("verify", guides.filling(context.program, base_url=context.base_url, code=code))
    first = {step: Snippet(title, how, "", page) for step, (title, how, page) in FIRST_STEPS.items()}
    return first | {step: Snippet(title, how, lines[step]) for step, (title, how) in STEPS.items()}
