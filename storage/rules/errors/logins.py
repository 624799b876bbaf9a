"""Errors about signing in to the dashboard and with `svc login`."""

from storage.rules.errors.service_error import ServiceError


class InvalidCredentials(ServiceError):
    code = "invalid_credentials"
    message = "The e-mail address or the password is wrong."
    hint = "Check both and try again."


class Forbidden(ServiceError):
    code = "forbidden"
    message = "You must be signed in as an active member of this program's workspace."
    hint = "Sign in with an account that is an active member of the workspace."


class OwnerRequired(ServiceError):
    code = "owner_required"
    message = "Only an owner of the workspace may do this."
    hint = "Ask an owner of the workspace."


class AuthorizationPending(ServiceError):
    code = "authorization_pending"
    message = "No member has approved this login yet."
    hint = "Wait `interval` seconds, then send the request again."


class SlowDown(ServiceError):
    code = "slow_down"
    message = "The status of this login is requested too often."
    hint = "Wait `interval` seconds between two requests."


class AccessDenied(ServiceError):
    code = "access_denied"
    message = "A member rejected this login."
    hint = "If it was your login, start another one with `svc login`."


class ExpiredToken(ServiceError):
    code = "expired_token"
    message = "This login has expired, was already used, or never existed."
    hint = "Start another login with `svc login`."


class LinkExpired(ServiceError):
    code = "link_expired"
    message = "This link was already used, has expired, or never existed."
    hint = (
        "Ask an owner of your workspace, or the operator of this server (svc admin member reset-link), for a new one."
    )


class SecondFactorRequired(ServiceError):
    code = "second_factor_required"
    message = "The password is right, and this account also needs a code of its authenticator app."
    hint = "Send the code, or a recovery code, as totp beside the e-mail address and the password."


class InvalidSecondFactor(ServiceError):
    code = "invalid_second_factor"
    message = "The code is wrong, or was used before."
    hint = "Wait for the app's next code, or use a recovery code."


class SecondFactorExists(ServiceError):
    code = "second_factor_exists"
    message = "This account has a second factor."
    hint = "Turn it off before you start another one."
