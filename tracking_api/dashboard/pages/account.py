"""The account page: how its owner sees pages, its password, its sessions and its second factor."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from storage.access import passwords, second_factors
from storage.access.preferences import Theme, TimeFormat
from tracking_api.dashboard import account, second_factor
from tracking_api.dashboard.pages import buttons, templates
from tracking_api.dashboard.pages.buttons import Button, FormOutcome
from tracking_api.dashboard.roles import VisitorRequest, visitor_request

THEMES = {Theme.SYSTEM: "As the device says", Theme.LIGHT: "Light", Theme.DARK: "Dark"}
TIME_FORMATS = {TimeFormat.HOURS_24: "24 hours: 14:03", TimeFormat.HOURS_12: "12 hours: 2:03 PM"}
BUTTONS = {
    "preferences": Button(account.change_preferences),
    "password": Button(account.change_password),
    "end": Button(account.end_session),
    "end-others": Button(account.end_other_sessions),
    "enrol": Button(second_factor.enrol_second_factor),
    "confirm": Button(second_factor.confirm_second_factor),
    "disable": Button(second_factor.disable_second_factor),
}


async def show_account(request: Request) -> Response:
    """Show the account."""
    return await _page(await visitor_request(request), FormOutcome())


async def change_account(request: Request) -> Response:
    """Do what the button says; an error appears above the forms."""
    call = await visitor_request(request)
    return await buttons.press(BUTTONS, call, partial(_page, call), visitor=call.visitor)


async def _page(call: VisitorRequest, outcome: FormOutcome) -> Response:
    return templates.render(
        call.request,
        "your_account.html",
        visitor=call.visitor,
        themes=THEMES.items(),
        time_formats=TIME_FORMATS.items(),
        sessions=await account.open_sessions(call),
        has_second_factor=await call.storage.read(second_factors.is_on, call.visitor.user_id),
        shortest=passwords.SHORTEST,
        **outcome.shown(),
    )
