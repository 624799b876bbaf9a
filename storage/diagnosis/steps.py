"""An explanation's ordered trace: what was looked at, from the partner to the arithmetic in cents."""

from datetime import timedelta
from typing import Any, NamedTuple

from storage.diagnosis.facts import Facts
from storage.rules import attribution, commission_rate
from storage.rules.attribution import PartnerStatus
from storage.rules.commission import CommissionStatus, CommissionType
from storage.rules.settlement import Settlement
from storage.rules.state import State


class ExplanationStep(NamedTuple):
    """One step: its state, what was found in words, and the values behind it (money in cents)."""

    step: str
    state: State
    text: str
    facts: dict[str, Any]


def steps_of(found: Facts) -> list[ExplanationStep]:
    """Return the steps, always all nine, in the order in which a sale passes them."""
    steps = (_partner, _click, _window, _lead, _program, _rate, _hold, _refunds, _arithmetic)
    return [step(found) for step in steps]


def _partner(found: Facts) -> ExplanationStep:
    partner = found.partner
    if partner is None:
        return ExplanationStep("partner", State.UNKNOWN, "No partner is linked to this identifier.", {})
    state = State.FAIL if partner.status == PartnerStatus.INACTIVE else State.PASS
    facts = {"partner_id": partner.id, "code": partner.code, "status": partner.status}
    return ExplanationStep("partner", state, f"The partner is {partner.status} now.", facts)


def _click(found: Facts) -> ExplanationStep:
    click = found.click
    if click is None:
        return ExplanationStep("click", State.UNKNOWN, "No click of this program is linked to this identifier.", {})
    facts = {"click_id": click.click_id, "at": click.at, "filtered": click.filtered}
    text = f"The click was filtered as {click.filtered}." if click.filtered else "The click is recorded."
    return ExplanationStep("click", State.PASS, text, facts)


def _window(found: Facts) -> ExplanationStep:
    if found.click is None:
        return ExplanationStep("window", State.UNKNOWN, "Without a click there is no window.", {})
    days = found.program.settings.attribution_window_days
    facts = {
        "attribution_window_days": days,
        "clicked_at": found.click.at,
        "ends_at": found.click.at + timedelta(days=days),
        "compared_at": compared_at(found),
    }
    inside = in_window(found)
    text = f"The call came {'within' if inside else 'after'} {days} days of the click."
    return ExplanationStep("window", State.PASS if inside else State.FAIL, text, facts)


def compared_at(found: Facts) -> Any:
    """Return the moment that the window is held against: the first sale, the refused call, else now."""
    if found.first_purchase_at is not None:
        return found.first_purchase_at
    return found.refused[0].at if found.refused else found.at


def in_window(found: Facts) -> bool:
    """Say whether that moment lies in the attribution window; a customer who has bought stays attributed."""
    days = found.program.settings.attribution_window_days
    bought = found.first_purchase_at is not None
    return bought or found.click is None or attribution.is_within(found.click.at, compared_at(found), days)


def _lead(found: Facts) -> ExplanationStep:
    customer = found.customer
    if customer is None:
        return ExplanationStep(
            "lead", State.UNKNOWN, "No customer has this identifier: no lead was recorded with it.", {}
        )
    facts = {
        "customer_id": customer.id,
        "customer_key": customer.customer_key,
        "status": customer.status,
        "settlement": customer.settlement,
        "at": found.lead.at if found.lead else None,
    }
    states = {Settlement.SETTLED: State.PASS, Settlement.PROVISIONAL: State.FAIL, Settlement.NONE: State.UNKNOWN}
    state = State.PASS if found.sale else states[Settlement(customer.settlement)]
    words = {Settlement.NONE: "There was no lead before the sale."}
    return ExplanationStep("lead", state, words.get(customer.settlement, f"The lead is {customer.settlement}."), facts)


def _program(found: Facts) -> ExplanationStep:
    settings = found.program.settings
    facts = {
        "program_id": found.program.id,
        "status": settings.status,
        "attribution_model": settings.attribution_model,
        "lead_auth_policy": settings.lead_auth_policy,
    }
    return ExplanationStep(
        "program", State.PASS, f"The program is {settings.status}; a paused one still takes sales.", facts
    )


def _rate(found: Facts) -> ExplanationStep:
    terms = found.terms
    if terms is None:
        return ExplanationStep("rate", State.UNKNOWN, "No terms were in force.", {})
    facts = {
        "terms_version": terms.version,
        "commission_type": terms.type,
        "commission_rate": commission_rate.shown(terms.type, terms.rate),
        "recurring_months": terms.recurring_months,
    }
    when = "priced the sale" if found.sale else "are in force now"
    state = State.PASS if terms.rate else State.FAIL
    return ExplanationStep("rate", state, f"The commission terms of version {terms.version} {when}.", facts)


def _hold(found: Facts) -> ExplanationStep:
    commission = found.commission
    if commission is None:
        return ExplanationStep("hold", State.UNKNOWN, "There is no commission to hold.", {})
    facts = {
        "commission_id": commission.id,
        "status": commission.status,
        "hold_until": commission.hold_until,
        "paid_at": commission.paid_at,
    }
    held = commission.status == CommissionStatus.PENDING and found.at < commission.hold_until
    text = "The commission is on hold." if held else f"The commission is {commission.status}."
    state = State.FAIL if commission.status == CommissionStatus.REJECTED else State.PASS
    return ExplanationStep("hold", state, text, facts)


def _refunds(found: Facts) -> ExplanationStep:
    if found.sale is None:
        return ExplanationStep("refunds", State.UNKNOWN, "There is no sale to refund.", {})
    facts = {
        "refunds": len(found.refunds),
        "refunded_cents": found.sale.refunded_cents,
        "remaining_cents": found.sale.amount_cents - found.sale.refunded_cents,
        "currency": found.sale.currency,
    }
    whole = found.sale.refunded_cents == found.sale.amount_cents
    text = f"{len(found.refunds)} refunds took {found.sale.refunded_cents} of {found.sale.amount_cents} cents."
    return ExplanationStep("refunds", State.FAIL if whole else State.PASS, text, facts)


def _arithmetic(found: Facts) -> ExplanationStep:
    sale, terms, commission = found.sale, found.terms, found.commission
    if sale is None or terms is None:
        return ExplanationStep("arithmetic", State.UNKNOWN, "No sale is recorded, so nothing was computed.", {})
    currency = found.program.settings.currency
    earned_cents = commission.amount_cents if commission else 0
    net_cents = commission.net_cents if commission else 0
    percent = terms.type == CommissionType.PERCENT
    how = f"{sale.program_cents} x {terms.rate} / 10000" if percent else f"{terms.rate} flat"
    facts = {
        "sale_cents": sale.amount_cents,
        "sale_currency": sale.currency,
        "program_cents": sale.program_cents,
        "currency": currency,
        "earned_cents": earned_cents,
        "taken_back_cents": earned_cents - net_cents,
        "net_cents": net_cents,
    }
    text = (
        f"{sale.amount_cents} {sale.currency} = {sale.program_cents} {currency}; {how}: earned {earned_cents}, "
        f"taken back {earned_cents - net_cents}, net {net_cents} cents."
    )
    return ExplanationStep("arithmetic", State.PASS if net_cents else State.FAIL, text, facts)
