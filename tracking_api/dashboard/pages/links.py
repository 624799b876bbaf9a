"""Partners' links: the referral link, links to one page of the shop, campaign tags, and QR codes as SVG."""

import io
from urllib.parse import SplitResult, quote, urlencode, urlsplit, urlunsplit

import segno
from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import path_id
from storage.lists.find import get
from storage.lists.partners import PARTNERS
from storage.rules.attribution import site_url
from storage.rules.click_details import CAMPAIGN
from storage.rules.errors import FieldError, ValidationError
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import page_context

LONGEST_PAGE = 1000
LONGEST_CAMPAIGN = 100


def of_partner(domain: str, code: str, page: str = "", campaign: str = "") -> str:
    """Return a partner's link to a page of the shop (its path, or its URL). Raises ValidationError."""
    shop, parts = urlsplit(site_url(domain)), urlsplit(page)
    if len(page) > LONGEST_PAGE or not page.isprintable() or (parts.scheme, parts.netloc) not in _ours(shop):
        raise _wrong("page", f"Enter a page of {domain}, such as /pricing")
    if len(campaign) > LONGEST_CAMPAIGN or not campaign.isprintable():
        raise _wrong("campaign", f"Use at most {LONGEST_CAMPAIGN} letters or digits")
    tags = urlencode({"aff": code} | ({CAMPAIGN: campaign} if campaign else {}), quote_via=quote, safe="")
    path = "/" + quote(parts.path.lstrip("/"), safe="/%:@!$&'()*+,;=~")
    return urlunsplit((shop.scheme, shop.netloc, path, "&".join(filter(None, [parts.query, tags])), parts.fragment))


async def show_qr_code(request: Request) -> Response:
    """Return the QR code of a partner's link. Raises NotFound, ValidationError."""
    context = await page_context.as_member(request)
    partner = await storage_of(request).read(get, PARTNERS, context.scope, path_id(request, "partner_id"))
    sent = (request.query_params.get(name, "") for name in ("page", "campaign"))
    link = of_partner(context.program.settings.domain, partner.code, *sent)
    headers = {"Content-Disposition": f'inline; filename="{quote(partner.code)}.svg"'}
    return Response(qr_code(link), media_type="image/svg+xml", headers=headers)


def qr_code(text: str) -> bytes:
    """Return a QR code, dark on white with its quiet zone, so that a camera reads it on a dark page, too."""
    image = io.BytesIO()
    segno.make(text, micro=False).save(image, kind="svg", scale=6, light="white")
    return image.getvalue()


def _ours(shop: SplitResult) -> set[tuple[str, str]]:
    return {("", ""), ("http", shop.netloc), ("https", shop.netloc)}


def _wrong(field: str, message: str) -> ValidationError:
    return ValidationError(fields=[FieldError(field, message)])
