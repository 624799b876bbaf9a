"""Explains why a sale was credited or not: the outcome, the steps, and the smallest change that would credit it."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.diagnosis import identifier_health, steps
from storage.diagnosis.facts import Facts, Subject
from storage.lists.rejected_calls import RejectedCall
from storage.rules import errors, keys
from storage.rules.attribution import PartnerStatus
from storage.rules.commission import CommissionStatus, earns
from storage.rules.fraud.flag import FlagKind
from storage.rules.outcome import MESSAGES, PAYMENT_CHANGES, SaleOutcome
from storage.rules.settlement import Settlement
from storage.rules.untrusted import Untrusted

OF_LEADS = {
    Settlement.SETTLED: SaleOutcome.NO_SALE,
    Settlement.PROVISIONAL: SaleOutcome.LEAD_PROVISIONAL,
    Settlement.OUTRANKED: SaleOutcome.LEAD_OUTRANKED,
}


class Explanation(NamedTuple):
    """The outcome in a code and in words; `smallest_change` is None when the sale is credited.

    `transaction_id` names the sale, recorded or rejected, that the outcome and the steps are about.
    `terms_version` names the commission terms that priced the sale; `rejected_calls` are newest first.
    `payment_event_id` names the processor's event of a payment that is no sale.
    `likely_customer_key` is the lead's key that the rejected one was likely meant to be, where there is one.
    """

    program_id: int
    outcome: str
    text: str
    smallest_change: str | None
    subject: Subject
    transaction_id: Untrusted | None
    sale_id: int | None
    commission_id: int | None
    terms_version: int | None
    steps: list[steps.ExplanationStep]
    rejected_calls: list[RejectedCall]
    likely_customer_key: Untrusted | None
    payment_event_id: Untrusted | None
    partner_name: Untrusted | None


def explain(connection: Connection, program_id: int, subject: Subject, *, at: datetime) -> Explanation:
    """Explain the outcome of a sale, a customer's newest sale or a click. Raises NotFound, ValidationError."""
    if sum(value is not None for value in subject) != 1:
        one = "Send exactly one of transaction_id, customer_key and click_id"
        raise errors.ValidationError(fields=[errors.FieldError(name, one) for name in Subject._fields])
    facts = Facts(connection, program_id, subject, at=at)
    outcome = _outcome(facts)
    sent, likely = facts.rejected or facts.payment, None
    unmatched = outcome in {errors.CustomerNotFound.code, SaleOutcome.PAYMENT_WAITING} and facts.customer is None
    if unmatched and sent is not None and sent.customer_key is not None:
        likely = identifier_health.likely_key(connection, program_id, sent.customer_key)
    has_expired = outcome == errors.AttributionWindowExpired.code and not facts.in_window
    return Explanation(
        program_id=program_id,
        outcome=outcome,
        text=steps.window_text(facts) if has_expired else MESSAGES[outcome].text,
        smallest_change=_fitting(facts, outcome, likely) or MESSAGES[outcome].change,
        subject=subject,
        transaction_id=(facts.sale or facts.rejected or facts.payment or subject).transaction_id,
        sale_id=facts.sale.id if facts.sale else None,
        commission_id=facts.commission.id if facts.commission else None,
        terms_version=facts.terms.version if facts.terms else None,
        steps=steps.of(facts),
        rejected_calls=facts.rejected_calls,
        likely_customer_key=likely,
        payment_event_id=facts.payment.event_id if facts.payment else None,
        partner_name=facts.partner.name if facts.partner else None,
    )


def _outcome(facts: Facts) -> str:
    """Return what a recorded sale came to; without one the rejection if there was one, else the last step reached."""
    if facts.sale is not None:
        return _of_sale(facts)
    customer = facts.customer
    click_program_id = keys.click_program(facts.subject.click_id or "")
    if facts.rejected is not None:
        outcome = facts.rejected.code
    elif facts.payment is not None:
        outcome = facts.payment.meaning
    elif click_program_id not in {None, facts.program.id}:
        outcome = errors.CustomerWrongProgram.code
    elif customer is None and facts.click is None:
        outcome = SaleOutcome.ONLY_A_TEST if facts.is_tested else SaleOutcome.NOT_RECORDED
    elif facts.partner is not None and facts.partner.status == PartnerStatus.INACTIVE:
        outcome = errors.CustomerNotAttributed.code
    elif not facts.in_window:
        outcome = errors.AttributionWindowExpired.code
    elif customer is not None and customer.settlement != Settlement.NONE:
        outcome = OF_LEADS[customer.settlement]
    else:
        is_filtered = facts.click is not None and facts.click.filtered is not None
        outcome = SaleOutcome.CLICK_FILTERED if is_filtered else SaleOutcome.NO_LEAD
    return outcome


def _of_sale(facts: Facts) -> SaleOutcome:
    sale, commission, terms = facts.sale, facts.commission, facts.terms
    if commission is not None and commission.amount_cents:
        if commission.status == CommissionStatus.REJECTED:
            outcome = SaleOutcome.COMMISSION_REJECTED
        elif commission.net_cents == 0:
            outcome = SaleOutcome.FULLY_REFUNDED
        elif FlagKind.POSSIBLE_DUPLICATE in commission.flags:
            outcome = SaleOutcome.POSSIBLE_DUPLICATE
        else:
            outcome = SaleOutcome.CREDITED_IN_PART if sale.refunded_cents else SaleOutcome.CREDITED
        return outcome
    first_at = facts.first_purchase_at if facts.first_purchase_at != sale.occurred_at else None
    if terms is not None and sale.program_cents < terms.minimum_order_cents:
        outcome = SaleOutcome.BELOW_MINIMUM_ORDER
    elif terms is not None and not earns(terms.recurring_months, first_at, sale.occurred_at):
        outcome = SaleOutcome.RECURRING_PERIOD_OVER
    else:
        has_rate = terms is not None and terms.rate != 0
        outcome = SaleOutcome.COMMISSION_ROUNDS_TO_ZERO if has_rate else SaleOutcome.COMMISSION_RATE_ZERO
    return outcome


def _fitting(facts: Facts, outcome: str, likely: str | None) -> str | None:
    """Return the smallest change for a payment or a missing customer, where the facts say more than the outcome."""
    rejected = facts.rejected
    if facts.payment is not None and likely is not None:
        return (
            f'Put svc_customer_key "{likely}", as at the lead, into the metadata of the next checkout, and name that '
            "customer for this payment under Settings, Payments."
        )
    if outcome != errors.CustomerNotFound.code or rejected is None:
        return PAYMENT_CHANGES.get(outcome) if facts.payment is not None else None
    if facts.customer is not None:
        return "Send the same sale again: the service has received the customer's lead since."
    return likely and f'Send customer_key "{likely}", as at the lead, instead of "{rejected.customer_key}".'
