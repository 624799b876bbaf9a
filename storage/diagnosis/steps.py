"""An explanation's steps in order, from the partner to the arithmetic in cents."""

from datetime import timedelta
from typing import Any, NamedTuple

from storage.diagnosis.facts import Facts
from storage.rules import attribution
from storage.rules.attribution import BY_HAND, PartnerStatus
from storage.rules.commission import CommissionStatus, CommissionType, shown_rate
from storage.rules.outcome import State
from storage.rules.settlement import Settlement
from storage.rules.untrusted import UntrustedValues

LEAD_STATES = {Settlement.SETTLED: State.PASS, Settlement.NONE: State.UNKNOWN}
LEAD_TEXTS = {
    Settlement.NONE: "The customer had no lead before the first sale.",
    Settlement.OUTRANKED: "A browser sent the lead; your server gave its customer_key to another customer.",
}


class ExplanationStep(NamedTuple):
    """One step: its state, its result in words, and the values behind it (money in cents)."""

    step: str
    state: State
    text: str
    facts: UntrustedValues


def of(facts: Facts) -> list[ExplanationStep]:
    """Return all nine steps in the order in which a sale passes them."""
    steps = (_partner, _click, _window, _lead, _program, _rate, _hold, _refunds, _arithmetic)
    return [step(facts) for step in steps]


def _partner(facts: Facts) -> ExplanationStep:
    partner = facts.partner
    if partner is None:
        return ExplanationStep("partner", State.UNKNOWN, "No partner is linked to this identifier.", {})
    state = State.FAIL if partner.status == PartnerStatus.INACTIVE else State.PASS
    values = {"partner_id": partner.id} | _picked(partner, "code", "status")
    text = f"The partner is {partner.status} now."
    if facts.click and facts.click.partner_id != partner.id:
        text += " The customer was moved to them from the partner of the click."
    return ExplanationStep("partner", state, text, values)


def _click(facts: Facts) -> ExplanationStep:
    click = facts.click
    if click is None:
        return ExplanationStep("click", State.UNKNOWN, "No click of this program is linked to this identifier.", {})
    text = f"The click was filtered as {click.filtered}." if click.filtered else "The click is recorded."
    if click.filtered == BY_HAND:
        text = "There was no click: the customer was credited to the partner by hand."
    return ExplanationStep("click", State.PASS, text, _picked(click, "click_id", "at", "filtered"))


def _window(facts: Facts) -> ExplanationStep:
    if facts.click is None:
        return ExplanationStep("window", State.UNKNOWN, "Without a click there is no window.", {})
    days = facts.program.settings.attribution_window_days
    values = {
        "attribution_window_days": days,
        "clicked_at": facts.click.at,
        "ends_at": facts.click.at + timedelta(days=days),
        "compared_at": facts.compared_at,
    }
    state = State.PASS if facts.in_window else State.FAIL
    return ExplanationStep("window", state, window_text(facts), values)


def window_text(facts: Facts) -> str:
    """Return whether the first sale, the rejected call or the present lies in the attribution window."""
    days = facts.program.settings.attribution_window_days
    within = attribution.is_within(facts.click.at, facts.compared_at, days)
    when = f"within {days} days of the click" if within else f"more than {days} days after the click"
    if facts.first_purchase_at is None:
        text = f"The {facts.rejected.call} came {when}." if facts.rejected else f"It is now {when}."
    elif within:
        text = f"The first sale came {when}."
    else:
        text = "The customer has bought before, so the attribution window no longer applies."
    return text


def _lead(facts: Facts) -> ExplanationStep:
    customer = facts.customer
    if customer is None:
        return ExplanationStep("lead", State.UNKNOWN, "No lead is linked to this identifier.", {})
    values = {"customer_id": customer.id} | _picked(customer, "customer_key", "known_as", "status", "settlement")
    values |= {"at": facts.lead.at if facts.lead else None, "outranked_partner_codes": facts.outranked_codes}
    state = State.PASS if facts.first_purchase_at else LEAD_STATES.get(Settlement(customer.settlement), State.FAIL)
    text = LEAD_TEXTS.get(Settlement(customer.settlement), f"The lead is {customer.settlement}.")
    if customer.known_as:
        text += " A sale named their customer_key beside the click, and later sales with it find them."
    if facts.outranked_codes:
        count = len(facts.outranked_codes)
        text += f" What your server sent outranks {count} leads that browsers sent with this customer_key."
    return ExplanationStep("lead", state, text, values)


def _program(facts: Facts) -> ExplanationStep:
    settings = facts.program.settings
    values = _picked(settings, "status", "attribution_model", "lead_auth_policy")
    text = f"The program is {settings.status}. A paused program still records sales."
    return ExplanationStep("program", State.PASS, text, {"program_id": facts.program.id} | values)


def _rate(facts: Facts) -> ExplanationStep:
    terms = facts.terms
    if terms is None:
        return ExplanationStep("rate", State.UNKNOWN, "No commission terms were in force.", {})
    values = {
        "terms_version": terms.version,
        "commission_type": terms.type,
        "commission_rate": shown_rate(terms.type, terms.rate),
        "commission_basis": terms.basis,
        **_picked(terms, "recurring_months", "minimum_order_cents"),
    }
    when = "were in force when the call came" if facts.rejected else "are in force now"
    when = "priced the sale" if facts.sale else when
    state = State.PASS if terms.rate else State.FAIL
    return ExplanationStep("rate", state, f"The commission terms of version {terms.version} {when}.", values)


def _hold(facts: Facts) -> ExplanationStep:
    commission = facts.commission
    if commission is None:
        return ExplanationStep("hold", State.UNKNOWN, "There is no commission.", {})
    values = {"commission_id": commission.id} | _picked(commission, "status", "hold_until", "paid_at", "credited_by")
    held = commission.status == CommissionStatus.PENDING and facts.at < commission.hold_until
    text = "The commission is on hold." if held else f"The commission is {commission.status}."
    text += " It was credited by hand." if commission.credited_by else ""
    state = State.FAIL if commission.status == CommissionStatus.REJECTED else State.PASS
    return ExplanationStep("hold", state, text, values)


def _refunds(facts: Facts) -> ExplanationStep:
    if facts.sale is None:
        return ExplanationStep("refunds", State.UNKNOWN, "There is no recorded sale.", {})
    values = {
        "refunds": facts.refunds,
        "refunded_cents": facts.sale.refunded_cents,
        "remaining_cents": facts.sale.amount_cents - facts.sale.refunded_cents,
        "currency": facts.sale.currency,
    }
    whole = facts.sale.refunded_cents == facts.sale.amount_cents
    text = f"{facts.refunds} refunds took {facts.sale.refunded_cents} of {facts.sale.amount_cents} cents."
    return ExplanationStep("refunds", State.FAIL if whole else State.PASS, text, values)


def _arithmetic(facts: Facts) -> ExplanationStep:
    sale, terms, commission = facts.sale, facts.terms, facts.commission
    if sale is None or terms is None:
        return ExplanationStep("arithmetic", State.UNKNOWN, "No sale is recorded, so there is nothing to compute.", {})
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
    return ExplanationStep("arithmetic", State.PASS if net_cents else State.FAIL, text, values)


def _picked(row: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
