"""The portal's part of the route table: what partners open, each page for one partner of one program."""

from tracking_api.portal import account, home, notices, requests, sign_in
from tracking_api.portal.portal_request import portal_page as page

PAGES = [
    page("/portal/sign-in", GET=sign_in.ASK.show, POST=sign_in.ask),
    page("/portal/link", GET=sign_in.OPEN_LINK.show, POST=sign_in.OPEN_LINK.press),
    page("/portal/programs/{program_id}/apply", GET=requests.show_application, POST=requests.apply),
    page("/portal/notices/{sealed}", GET=notices.show_button, POST=notices.turn_off),
    page("/portal/sign-out", POST=sign_in.leave),
    page("/portal", GET=home.show_home),
    page("/portal/links", GET=home.show_links),
    page("/portal/qr.svg", GET=home.show_qr_code),
    page("/portal/earnings", GET=home.show_earnings),
    page("/portal/statements/{number}", GET=home.show_statement),
    page("/portal/missing-sale", GET=requests.MISSING_SALE.show, POST=requests.MISSING_SALE.press),
    page("/portal/account", GET=account.PAGE.show, POST=account.PAGE.press),
]
