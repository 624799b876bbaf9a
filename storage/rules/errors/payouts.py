"""Errors about payouts."""

from storage.rules.errors.service_error import ServiceError


class PayoutOpen(ServiceError):
    message = "The program has a draft of a payout already."
    hint = "Send or discard the draft first: GET .../payouts?state=draft."


class PayoutSent(ServiceError):
    message = "The payout was sent before."
    hint = "Read it. Within an hour it can be reopened; later, correct single lines."


class PayoutChanged(ServiceError):
    message = "What the payout froze has changed since."
    hint = "Discard the draft and make a new one. error.line_ids names the lines of partners with a change."


class SecondPersonRequired(ServiceError):
    message = "The program wants a second person to confirm a payout before it is sent."
    hint = "Ask an owner or a member with the role finance, other than who drafted it, to confirm it."
