"""Errors about clicks."""

from storage.rules.errors.service_error import ServiceError


class ProgramIdRequired(ServiceError):
    code = "program_id_required"
    message = "program_id is missing."
    hint = "Send program_id, or additional_data.program_id."


class ProgramNotFound(ServiceError):
    code = "program_not_found"
    message = "No program has this program_id."
    hint = "Use the program's id as the dashboard shows it."


class AffiliateUrlRequired(ServiceError):
    code = "affiliate_url_required"
    message = "affiliate_url is missing."
    hint = "Send the URL of the landing page, with its ?aff=<partner code>."


class InvalidAffiliateUrl(ServiceError):
    code = "invalid_affiliate_url"
    message = "affiliate_url is not an absolute http or https URL."
    hint = "Send the whole URL of the landing page, with its scheme and host."


class AffMissing(ServiceError):
    code = "aff_missing"
    message = "affiliate_url has no partner code."
    hint = "Send the URL of the landing page with its ?aff=<partner code>, and keep the parameter through redirects."


class PartnerNotFound(ServiceError):
    code = "partner_not_found"
    message = "No partner of this program has this code."
    hint = "Compare the code with the partner's link. Upper and lower case differ."


class OriginNotAllowed(ServiceError):
    code = "origin_not_allowed"
    message = "The page that sent the request is not on a domain of the program."
    hint = "Add the page's domain to the program's further domains, on the page Settings."


class InvalidHandover(ServiceError):
    code = "invalid_handover"
    message = "The hand-over token is malformed, used, expired or not of this program."
    hint = "A token works once and for five minutes. Decorate the link when the visitor clicks it."
