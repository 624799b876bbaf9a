"""Why a sale was credited or not: one verdict, the trace that leads to it, and the smallest change that helps."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.diagnosis import facts, identifier_health, steps
from storage.diagnosis.facts import Facts, Subject
from storage.diagnosis.steps import ExplanationStep
from storage.reading.rejected_calls import LoggedRejection
from storage.rules import keys, outcome
from storage.rules.attribution import PartnerStatus
from storage.rules.commission import earns
from storage.rules.errors import CustomerNotFound, DuplicateTransaction, FieldError, ValidationError
from storage.rules.messages import MEANINGS
from storage.rules.outcome import SaleOutcome, Traces, Verdict
from storage.rules.settlement import CustomerStatus, Settlement


class Explanation(NamedTuple):
    """The verdict in a code and in words; `smallest_change` is None when the sale is credited.

    `terms_version` names the commission terms that priced the sale; `refused_calls` are newest first.
    `likely_customer_key` is the lead's key that the refused one was likely meant to be, where one is found.
    """

    verdict: Verdict
    text: str
    smallest_change: str | None
    subject: Subject
    sale_id: int | None
    commission_id: int | None
    terms_version: int | None
    trace: list[ExplanationStep]
    refused_calls: list[LoggedRejection]
    likely_customer_key: str | None


def explain(
    connection: Connection,
    program_id: int,
    *,
    at: datetime,
    transaction_id: str | None = None,
    customer_key: str | None = None,
    click_id: str | None = None,
) -> Explanation:
    """Explain what became of a sale, a customer's newest sale or a click, also where nothing was recorded.

    Raises ValidationError unless exactly one identifier is given, NotFound for a program that does not exist.
    """
    subject = Subject(transaction_id, customer_key, click_id)
    if sum(value is not None for value in subject) != 1:
        one = "Send exactly one of transaction_id, customer_key and click_id"
        raise ValidationError(fields=[FieldError(name, one) for name in Subject._fields])
    found = facts.gather(connection, program_id, subject, at=at)
    judged = _judge(found)
    meaning, likely = MEANINGS[judged], _likely(connection, found, judged)
    return Explanation(
        verdict=judged,
        text=meaning.text,
        smallest_change=_fitting(found, judged, likely) or meaning.change,
        subject=subject,
        sale_id=found.sale.id if found.sale else None,
        commission_id=found.commission.id if found.commission else None,
        terms_version=found.terms.version if found.terms else None,
        trace=steps.steps_of(found),
        refused_calls=found.refused,
        likely_customer_key=likely,
    )


def _judge(found: Facts) -> Verdict:
    refused = _decisive(found)
    if found.sale is not None and refused is None:
        return outcome.of_sale(_outcome(found))
    click_id = found.subject.click_id
    click_program_id = keys.click_program(click_id or "")
    customer = found.customer
    return outcome.without_sale(
        Traces(
            refused_with=refused.code if refused else None,
            tested=found.tested,
            other_program=click_program_id not in {None, found.program.id},
            customer_status=CustomerStatus(customer.status) if customer else None,
            settlement=Settlement(customer.settlement) if customer else None,
            clicked=found.click is not None,
            filtered=found.click is not None and found.click.filtered is not None,
            in_window=steps.in_window(found),
            partner_active=found.partner is None or found.partner.status != PartnerStatus.INACTIVE,
        )
    )


def _decisive(found: Facts) -> LoggedRejection | None:
    """Return the refused call that decides: of a sale before any other; none that a later sale made good."""
    calls = [call for call in found.refused if call.code != DuplicateTransaction.code or found.sale is None]
    if found.sale is not None:
        named = found.subject.transaction_id is not None
        calls = [] if named else [call for call in calls if call.call == "sale" and call.at > found.sale.at]
    sold = [call for call in calls if call.call == "sale"]
    return next(iter(sold or calls), None)


def _outcome(found: Facts) -> SaleOutcome:
    commission, terms, sale = found.commission, found.terms, found.sale
    later = found.first_purchase_at if found.first_purchase_at != sale.occurred_at else None
    return SaleOutcome(
        sale_cents=sale.amount_cents,
        refunded_cents=sale.refunded_cents,
        earned_cents=commission.amount_cents if commission else 0,
        net_cents=commission.net_cents if commission else 0,
        status=commission.status if commission else None,
        rate=terms.rate if terms else 0,
        recurring_over=terms is not None and not earns(terms.recurring_months, later, sale.occurred_at),
    )


def _likely(connection: Connection, found: Facts, judged: Verdict) -> str | None:
    """Return the lead's key that a refused customer_key was likely meant to be."""
    refused = _decisive(found)
    if judged != CustomerNotFound.code or found.customer is not None or refused is None or not refused.customer_key:
        return None
    return identifier_health.likely_key(connection, found.program.id, refused.customer_key)


def _fitting(found: Facts, judged: Verdict, likely: str | None) -> str | None:
    """Return the change for a customer_key that matched no lead, where more is known than the verdict says."""
    refused = _decisive(found)
    if judged != CustomerNotFound.code or refused is None or refused.customer_key is None:
        return None
    if found.customer is not None:
        return "Send the same sale again: the customer's lead has arrived since."
    return likely and f'Send customer_key "{likely}", as at the lead, instead of "{refused.customer_key}".'
