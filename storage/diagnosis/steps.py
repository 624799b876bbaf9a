"""An explanation's steps in order, from the partner to the arithmetic in cents."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

from storage.diagnosis.facts import Facts
from storage.lists.commissions import Commission
from storage.lists.programs import Program
from storage.rules import attribution
from storage.rules.attribution import BY_HAND, COUPON, REFERRAL, PartnerStatus
from storage.rules.commission import CommissionStatus, CommissionType, Terms, TermsOf, shown_rate
from storage.rules.outcome import State
from storage.rules.settlement import Settlement
from storage.rules.untrusted import UntrustedValues

LEAD_STATES = {Settlement.SETTLED: State.PASS, Settlement.NONE: State.UNKNOWN}
LEAD_TEXTS = {
    Settlement.NONE: "The customer had no lead before the first sale.",
    Settlement.OUTRANKED: "A browser sent the lead; your server gave its customer_key to another customer.",
}
INSTEAD = {
    BY_HAND: "the customer was credited to the partner by hand",
    COUPON: "a coupon credited the customer to its partner",
    REFERRAL: "an agent issued a referral token of the partner",
}
_Result = tuple[State, str, UntrustedValues]


class ExplanationStep(NamedTuple):
    """One step: its state, its result in words, and the values behind it (money in cents)."""

    step: str
    state: State
    text: str
    facts: UntrustedValues


def of(facts: Facts) -> list[ExplanationStep]:
    """Return all nine steps in the order in which a sale passes them."""
    steps: dict[str, tuple[Any, str, Callable[[Facts, Any], _Result]]] = {  # by what each needs
        "partner": (facts.partner, "No partner is linked to this identifier.", _partner),
        "click": (facts.click, "No click of this program is linked to this identifier.", _click),
        "window": (facts.click, "Without a click there is no window.", _window),
        "lead": (facts.customer, "No lead is linked to this identifier.", _lead),
        "program": (facts.program, "", _program),
        "rate": (facts.terms, "No commission terms were in force.", _rate),
        "hold": (facts.commission, "There is no commission.", _hold),
        "refunds": (facts.sale, "There is no recorded sale.", _refunds),
        "arithmetic": (facts.sale and facts.terms, "No sale is recorded, so there is nothing to compute.", _arithmetic),
    }
    return [
        ExplanationStep(name, *(step(facts, row) if row else (State.UNKNOWN, missing, {})))
        for name, (row, missing, step) in steps.items()
    ]


def _partner(facts: Facts, partner: Any) -> _Result:
    text = f"The partner is {partner.status} now."
    is_credited = facts.coupon and facts.coupon.partner_id == partner.id
    if is_credited:
        text += " They are credited by the coupon of the sale."
    elif facts.click and facts.click.partner_id != partner.id:
        text += " The customer was moved to them from the partner of the click."
    if facts.coupon and not is_credited:
        text += " The coupon of the sale is another partner's: the click, or the customer's earlier sale, decided."
    elif facts.coupon_code and not facts.coupon:
        text += " No coupon of the program has the sale's coupon_code."
    state = State.FAIL if partner.status == PartnerStatus.INACTIVE else State.PASS
    values = {"partner_id": partner.id} | _picked(partner, "code", "status")
    return state, text, values | ({"coupon_code": facts.coupon_code} if facts.coupon_code else {})


def _click(_: Facts, click: Any) -> _Result:
    text = f"The click was filtered as {click.filtered}." if click.filtered else "The click is recorded."
    if click.filtered in INSTEAD:
        text = f"There was no click: {INSTEAD[click.filtered]}."
    return State.PASS, text, _picked(click, "click_id", "at", "filtered")


def _window(facts: Facts, click: Any) -> _Result:
    days = facts.program.settings.attribution_window_days
    values = {
        "attribution_window_days": days,
        "clicked_at": click.at,
        "ends_at": click.at + timedelta(days=days),
        "compared_at": facts.compared_at,
    }
    return State.PASS if facts.in_window else State.FAIL, window_text(facts), values


def window_text(facts: Facts) -> str:
    """Return whether the first sale, the rejected call or the present lies in the attribution window."""
    days = facts.program.settings.attribution_window_days
    within = attribution.is_within(facts.click.at, facts.compared_at, days)
    when = f"within {days} days of the click" if within else f"more than {days} days after the click"
    if within and not facts.in_window:
        text = "The referral token had expired."
    elif facts.first_purchase_at is None:
        text = f"The {facts.rejected.call} came {when}." if facts.rejected else f"It is now {when}."
    elif within:
        text = f"The first sale came {when}."
    else:
        text = "The customer has bought before, so the attribution window no longer applies."
    return text


def _lead(facts: Facts, customer: Any) -> _Result:
    values = {"customer_id": customer.id} | _picked(customer, "customer_key", "known_as", "status", "settlement")
    values |= {"at": facts.lead.at if facts.lead else None, "outranked_partner_codes": facts.outranked_codes}
    state = State.PASS if facts.first_purchase_at else LEAD_STATES.get(Settlement(customer.settlement), State.FAIL)
    text = LEAD_TEXTS.get(Settlement(customer.settlement), f"The lead is {customer.settlement}.")
    if customer.known_as:
        text += " A sale named their customer_key beside the click, and later sales with it find them."
    if facts.outranked_codes:
        count = len(facts.outranked_codes)
        text += f" What your server sent outranks {count} leads that browsers sent with this customer_key."
    return state, text, values


def _program(_: Facts, program: Program) -> _Result:
    values = _picked(program.settings, "status", "attribution_model", "lead_auth_policy")
    text = f"The program is {program.settings.status}. A paused program still records sales."
    return State.PASS, text, {"program_id": program.id} | values


def _rate(facts: Facts, terms: Terms) -> _Result:
    values = {
        "terms_version": terms.version,
        "whose_terms": terms.whose,
        "commission_type": terms.type,
        "commission_rate": shown_rate(terms.type, terms.rate),
        "commission_basis": terms.basis,
        **_picked(terms, "recurring_months", "minimum_order_cents"),
    }
    when = "were in force when the call came" if facts.rejected else "are in force now"
    when = "priced the sale" if facts.sale else when
    whose = {TermsOf.PARTNER: "partner's own ", TermsOf.GROUP: f"partner group {terms.group}'s "}.get(terms.whose, "")
    text = f"The {whose}commission terms of version {terms.version} {when}."
    return State.PASS if terms.rate else State.FAIL, text, values


def _hold(facts: Facts, commission: Commission) -> _Result:
    values = {"commission_id": commission.id} | _picked(commission, "status", "hold_until", "paid_at", "credited_by")
    held = commission.status == CommissionStatus.PENDING and facts.at < commission.hold_until
    text = "The commission is on hold." if held else f"The commission is {commission.status}."
    text += " It was credited by hand." if commission.credited_by else ""
    return State.FAIL if commission.status == CommissionStatus.REJECTED else State.PASS, text, values


def _refunds(facts: Facts, sale: Any) -> _Result:
    values = {
        "refunds": facts.refunds,
        "refunded_cents": sale.refunded_cents,
        "remaining_cents": sale.amount_cents - sale.refunded_cents,
        "currency": sale.currency,
    }
    text = f"{facts.refunds} refunds took {sale.refunded_cents} of {sale.amount_cents} cents."
    return State.PASS if values["remaining_cents"] else State.FAIL, text, values


def _arithmetic(facts: Facts, terms: Terms) -> _Result:
    sale, commission = facts.sale, facts.commission
    currency = facts.program.settings.currency
    earned_cents = commission.amount_cents if commission else 0
    net_cents = commission.net_cents if commission else 0
    percent = terms.type == CommissionType.PERCENT
    basis_cents = terms.basis_cents(sale, sale.program_cents)
    how = f"{basis_cents} x {terms.rate} / 10000" if percent else f"{terms.rate} flat"
    if percent and basis_cents != sale.program_cents:
        how = f"{basis_cents} without tax and shipping; {how}"
    values = {
        "sale_cents": sale.amount_cents,
        "sale_currency": sale.currency,
        **_picked(sale, "tax_cents", "shipping_cents", "program_cents"),
        "basis_cents": basis_cents,
        "currency": currency,
        "earned_cents": earned_cents,
        "taken_back_cents": earned_cents - net_cents,
        "net_cents": net_cents,
    }
    text = (
        f"{sale.amount_cents} {sale.currency} = {sale.program_cents} {currency}; {how}: earned {earned_cents}, "
        f"taken back {earned_cents - net_cents}, net {net_cents} cents."
    )
    return State.PASS if net_cents else State.FAIL, text, values


def _picked(row: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
