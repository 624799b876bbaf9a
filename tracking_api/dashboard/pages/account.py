"""The account page: its password, its sessions and its second factor."""

from starlette.requests import Request
from starlette.responses import Response

from storage.access import passwords, second_factors, sessions
from storage.access.second_factors import Enrolment
from storage.rules.errors import InvalidSecondFactor, NotFound, RateLimited, SecondFactorExists, ValidationError
from tracking_api.dashboard import account, authentication, second_factor
from tracking_api.dashboard.account import PasswordChange
from tracking_api.dashboard.pages import forms, notices, templates
from tracking_api.dashboard.pages.forms import Form, Problems
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.reset_password import chosen_password
from tracking_api.dashboard.roles import VisitorRequest, visitor_request

PATH = "/account"
PASSWORD, CODE = "current_password", "totp"


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
    if action == "password":
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
        sessions=await account.open_sessions(call),
        has_second_factor=await call.storage.read(second_factors.is_on, call.visitor.user_id),
        problems=problems or Problems(),
        shortest=passwords.SHORTEST,
        enrolment=enrolment,
        recovery_codes=recovery_codes,
    )
