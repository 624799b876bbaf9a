"""The account page: how its owner sees pages, its password, its sessions and its second factor."""

from starlette.requests import Request
from starlette.responses import Response

from storage.access import passwords, preferences, second_factors, sessions
from storage.access.preferences import Preferences, Theme, TimeFormat
from storage.access.second_factors import Enrolment
from storage.rules.errors import (
    FieldError,
    InvalidSecondFactor,
    NotFound,
    RateLimited,
    SecondFactorExists,
    ValidationError,
)
from tracking_api.dashboard import account, authentication, second_factor
from tracking_api.dashboard.account import PasswordChange
from tracking_api.dashboard.pages import forms, notices, templates, text
from tracking_api.dashboard.pages.forms import Form, Problems
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.reset_password import chosen_password
from tracking_api.dashboard.roles import VisitorRequest, visitor_request

PATH = "/account"
PASSWORD, CODE = "current_password", "totp"
THEMES = {Theme.SYSTEM: "As the device says", Theme.LIGHT: "Light", Theme.DARK: "Dark"}
TIME_FORMATS = {TimeFormat.HOURS_24: "24 hours: 14:03", TimeFormat.HOURS_12: "12 hours: 2:03 PM"}


async def show_account(request: Request) -> Response:
    """Show the account."""
    return await _page(await visitor_request(request))


async def change_account(request: Request) -> Response:
    """Do what the button says; an error appears above the forms."""
    call = await visitor_request(request)
    form = await forms.read_form(request)
    try:
        return await _do(call, form)
    except ValidationError as rejection:
        return await _page(call, Problems.of(rejection))
    except (InvalidSecondFactor, SecondFactorExists, RateLimited, NotFound) as rejection:
        return await _page(call, Problems({"": rejection.text}))


async def _do(call: VisitorRequest, form: Form) -> Response:
    action, user_id = form.text("action"), call.visitor.user_id
    password = form.fields.get(PASSWORD, [""])[0][: passwords.LONGEST]
    if action == "preferences":
        await call.storage.write(preferences.change, user_id, _preferences(form))
        response = notices.leave(redirect(PATH), "preferences-saved")
    elif action == "password":
        sent = PasswordChange.model_construct(current_password=password, new_password=chosen_password(form))
        await account.replace_password(call, sent)
        response = notices.leave(redirect(PATH), "password-changed")
    elif action == "end-others":
        await call.storage.write(sessions.end_all, user_id, but=authentication.presented(call.request))
        response = notices.leave(redirect(PATH), "sessions-ended")
    elif action == "enrol":
        response = await _page(call, enrolment=await second_factor.enrol(call, password))
    elif action == "confirm":
        response = await _page(call, recovery_codes=await second_factor.confirm(call, form.text(CODE)))
    elif action == "disable":
        code = form.text(CODE)
        await second_factor.disable(call, password=None if code else password, code=code)
        response = notices.leave(redirect(PATH), "second-factor-off")
    else:
        await call.storage.write(sessions.end_one, user_id, form.text("session"))
        response = notices.leave(redirect(PATH), "sessions-ended")
    return response


def _preferences(form: Form) -> Preferences:
    """Return the chosen preferences; what is no choice of the form counts as not chosen. Raises ValidationError."""
    name, theme, time_format = (form.text(field) for field in Preferences._fields)
    if text.plain(name) != name:
        raise ValidationError(fields=[FieldError("name", f"Enter at most {text.LONGEST} letters")])
    chosen_theme = Theme(theme) if theme in THEMES else Theme.SYSTEM
    chosen_format = TimeFormat(time_format) if time_format in TIME_FORMATS else TimeFormat.HOURS_24
    return Preferences(name or None, chosen_theme, chosen_format)


async def _page(
    call: VisitorRequest,
    problems: Problems | None = None,
    *,
    enrolment: Enrolment | None = None,
    recovery_codes: list[str] | None = None,
) -> Response:
    return templates.render(
        call.request,
        "your_account.html",
        status=400 if problems else 200,
        visitor=call.visitor,
        themes=THEMES.items(),
        time_formats=TIME_FORMATS.items(),
        sessions=await account.open_sessions(call),
        has_second_factor=await call.storage.read(second_factors.is_on, call.visitor.user_id),
        problems=problems or Problems(),
        shortest=passwords.SHORTEST,
        enrolment=enrolment,
        recovery_codes=recovery_codes,
    )
