"""Explains why a sale was credited or not: the outcome, the steps, and the smallest change that would credit it."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.diagnosis import identifier_health, steps
from storage.diagnosis.facts import Facts, gather
from storage.diagnosis.messages import MESSAGES, PAYMENT_CHANGES
from storage.diagnosis.payment_search import Subject
from storage.diagnosis.steps import ExplanationStep
from storage.lists.rejected_calls import RejectedCall
from storage.rules import keys, outcome
from storage.rules.attribution import PartnerStatus
from storage.rules.commission import earns
from storage.rules.errors import CustomerNotFound, FieldError, ValidationError
from storage.rules.fraud.flag import FlagKind
from storage.rules.outcome import IdentifierFacts, SaleFacts, SaleOutcome
from storage.rules.settlement import CustomerStatus, Settlement
from storage.rules.untrusted import Untrusted


class Explanation(NamedTuple):
    """The outcome in a code and in words; `smallest_change` is None when the sale is credited.

    `transaction_id` names the sale, recorded or rejected, that the outcome and the steps are about.
    `terms_version` names the commission terms that priced the sale; `rejected_calls` are newest first.
    `payment_event_id` names the processor's event of a payment that is no sale.
    `likely_customer_key` is the lead's key that the rejected one was likely meant to be, where there is one.
    """

    outcome: SaleOutcome
    text: str
    smallest_change: str | None
    subject: Subject
    transaction_id: Untrusted | None
    sale_id: int | None
    commission_id: int | None
    terms_version: int | None
    steps: list[ExplanationStep]
    rejected_calls: list[RejectedCall]
    likely_customer_key: Untrusted | None
    payment_event_id: Untrusted | None
    partner_name: Untrusted | None


def explain(
    connection: Connection,
    program_id: int,
    *,
    at: datetime,
    transaction_id: str | None = None,
    customer_key: str | None = None,
    click_id: str | None = None,
) -> Explanation:
    """Explain the outcome of a sale, a customer's newest sale or a click, even if nothing was recorded.

    Raises ValidationError unless there is exactly one identifier, NotFound for a program that does not exist.
    """
    subject = Subject(transaction_id, customer_key, click_id)
    if sum(value is not None for value in subject) != 1:
        one = "Send exactly one of transaction_id, customer_key and click_id"
        raise ValidationError(fields=[FieldError(name, one) for name in Subject._fields])
    facts = gather(connection, program_id, subject, at=at)
    sale_outcome = _outcome(facts)
    likely = _likely_key(connection, facts, sale_outcome)
    return Explanation(
        outcome=sale_outcome,
        text=_text(facts, sale_outcome),
        smallest_change=_fitting(facts, sale_outcome, likely) or MESSAGES[sale_outcome].change,
        subject=subject,
        transaction_id=(facts.sale or facts.rejected or facts.payment or subject).transaction_id,
        sale_id=facts.sale.id if facts.sale else None,
        commission_id=facts.commission.id if facts.commission else None,
        terms_version=facts.terms.version if facts.terms else None,
        steps=steps.steps_of(facts),
        rejected_calls=facts.rejected_calls,
        likely_customer_key=likely,
        payment_event_id=facts.payment.event_id if facts.payment else None,
        partner_name=facts.partner.name if facts.partner else None,
    )


def _outcome(facts: Facts) -> SaleOutcome:
    if facts.sale is not None:
        return outcome.of_sale(_sale_facts(facts))
    click_program_id = keys.click_program(facts.subject.click_id or "")
    customer = facts.customer
    return outcome.without_sale(
        IdentifierFacts(
            rejected_with=facts.rejected.code if facts.rejected else None,
            payment=facts.payment.meaning if facts.payment else None,
            tested=facts.tested,
            other_program=click_program_id not in {None, facts.program.id},
            customer_status=CustomerStatus(customer.status) if customer else None,
            settlement=Settlement(customer.settlement) if customer else None,
            clicked=facts.click is not None,
            filtered=facts.click is not None and facts.click.filtered is not None,
            in_window=steps.in_window(facts),
            partner_active=facts.partner is None or facts.partner.status != PartnerStatus.INACTIVE,
        )
    )


def _sale_facts(facts: Facts) -> SaleFacts:
    commission, terms, sale = facts.commission, facts.terms, facts.sale
    later = facts.first_purchase_at if facts.first_purchase_at != sale.occurred_at else None
    return SaleFacts(
        sale_cents=sale.amount_cents,
        refunded_cents=sale.refunded_cents,
        earned_cents=commission.amount_cents if commission else 0,
        net_cents=commission.net_cents if commission else 0,
        status=commission.status if commission else None,
        rate=terms.rate if terms else 0,
        may_be_duplicate=commission is not None and FlagKind.POSSIBLE_DUPLICATE in commission.flags,
        below_minimum=terms is not None and sale.program_cents < terms.minimum_order_cents,
        recurring_over=terms is not None and not earns(terms.recurring_months, later, sale.occurred_at),
    )


def _text(facts: Facts, sale_outcome: SaleOutcome) -> str:
    """Return the outcome as text; for an expired window, with the program's number of days."""
    expired = sale_outcome == SaleOutcome.ATTRIBUTION_WINDOW_EXPIRED and not steps.in_window(facts)
    return steps.window_text(facts) if expired else MESSAGES[sale_outcome].text


def _likely_key(connection: Connection, facts: Facts, sale_outcome: SaleOutcome) -> str | None:
    """Return the lead's key that an unknown customer_key, of a rejected call or a payment, was likely meant to be."""
    sent = facts.rejected or facts.payment
    unmatched = sale_outcome in {CustomerNotFound.code, SaleOutcome.PAYMENT_WAITING} and facts.customer is None
    if not unmatched or sent is None or sent.customer_key is None:
        return None
    return identifier_health.likely_key(connection, facts.program.id, sent.customer_key)


def _fitting(facts: Facts, sale_outcome: SaleOutcome, likely: str | None) -> str | None:
    """Return the smallest change for a payment or a missing customer, where the facts say more than the outcome."""
    rejected = facts.rejected
    if facts.payment is not None and likely is not None:
        return (
            f'Put svc_customer_key "{likely}", as at the lead, into the metadata of the next checkout, and name that '
            "customer for this payment under Settings, Payments."
        )
    if sale_outcome != CustomerNotFound.code or rejected is None:
        return PAYMENT_CHANGES.get(sale_outcome) if facts.payment is not None else None
    if facts.customer is not None:
        return "Send the same sale again: the service has received the customer's lead since."
    return likely and f'Send customer_key "{likely}", as at the lead, instead of "{rejected.customer_key}".'
