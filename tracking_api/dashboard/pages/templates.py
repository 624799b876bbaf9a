"""Pages from templates: autoescape is always on, undefined names are errors; the values and headers of every page."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from babel.numbers import get_currency_name
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from storage.access import passwords
from storage.access.workspaces import DECIDERS, MANAGERS, OWNERS
from storage.rules.settings import SETTINGS
from storage.tracking import currencies
from tracking_api import assets
from tracking_api.dashboard.authentication import expected_token
from tracking_api.dashboard.pages import notices, text

# No inline script or style, no framing, no other origin, no stored copy.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),  # the browser's Back button shows no page after signing out
)
LABELS = {setting.form_name: setting.label for setting in SETTINGS}


@lru_cache(64)
def currency_options(chosen: str) -> list[tuple[str, str]]:
    """Return each currency's code and the text of its option; a chosen code that is none of them comes last."""
    known, first = currencies.current(), ("USD", "EUR", "GBP")
    codes = (*first, *sorted(known - set(first)))
    options = [(code, f"{code} · {get_currency_name(code, locale='en')}") for code in codes]
    return options + ([(chosen, chosen)] if chosen and chosen not in known else [])


environment = Environment(
    loader=FileSystemLoader(
        [Path(__file__).parent.parent / "templates", Path(__file__).parents[2]]
    ),  # and the portal's
    autoescape=select_autoescape(["html"]),  # of the files, the texts of e-mails alone are none
    auto_reload=False,  # a page asks the disk for nothing
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
environment.filters |= text.FILTERS
environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
environment.globals |= {
    "static": assets.page_asset_path,
    "currencies": currency_options,
    "zone": text.zone_name,
    "zip": zip,
    "labels": LABELS,
    "shortest_password": passwords.SHORTEST,
    "OWNERS": OWNERS,
    "MANAGERS": MANAGERS,
    "DECIDERS": DECIDERS,
}


def render(request: Request, template: str, *, status: int | None = None, **values: Any) -> HTMLResponse:
    """Return a page, by default with status 400 if it shows problems. A waiting notice is shown on it once."""
    notice = notices.waiting(request)
    viewer = values["context"].visitor if values.get("context") else values.get("visitor")
    text.show_to(request, viewer)
    common = {
        "csrf": expected_token(request),
        "notice": notice,
        "path": request.url.path,
        "context": None,
        "base_url": request.app.state.base_url,
        "viewer": viewer,
        "locale": text.CLOCK.get().locale,
    }
    html = environment.get_template(template).render(common | values)
    response = HTMLResponse(html, status or (400 if values.get("problems") or values.get("problem") else 200))
    if notice is not None:
        response.delete_cookie(notices.COOKIE, httponly=True, samesite="lax")
    return response
