"""A program's settings. Each is declared once: storage, APIs, forms and docs/settings.md derive from this file.

docs/decisions/0015-settings.md says how to add one.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NamedTuple

from storage.rules.attribution import AttributionModel, CouponWins, OldLinks, PaidAds, ProgramStatus
from storage.rules.commission import CommissionBasis, CommissionType
from storage.rules.errors import FieldError, ValidationError
from storage.rules.setting_kinds import Kind, Option, Section, Setting, declared
from storage.rules.settlement import LeadAuthPolicy

PROGRAM = Section("Program")
COMMISSION = Section("Commission", "New terms apply to later sales only; earned commissions do not change.")
PAYING = Section("Approval, payouts and fees")
ATTRIBUTION = Section("Attribution", "Which partner is credited with a customer.")
LINKS = Section("Links and ads")
PORTAL = Section("Portal", "Where partners see their results and sign in by a link.")
PAUSING = Section("Pausing", "Partners still earn on customers whom they sent before.")
SECTIONS = (PROGRAM, COMMISSION, PAYING, ATTRIBUTION, LINKS, PORTAL, PAUSING)


class ProgramSettings(NamedTuple):
    """A program's settings as stored, in the order of the APIs."""

    name: Annotated[str, Setting("Name", Kind.TEXT, PROGRAM), "The name that partners see."]
    domain: Annotated[
        str, Setting("Domain", Kind.HOST, PROGRAM), "The host of the referral links, such as shop.example."
    ]
    currency: Annotated[
        str,
        Setting("Currency", Kind.CURRENCY, PROGRAM),
        "Sales in this currency need no exchange rates. Fixed once a sale or commission is recorded.",
    ] = "USD"
    commission_type: Annotated[
        CommissionType,
        Setting("Commission", Kind.CHOICE, COMMISSION, is_term=True),
        "Whether a sale earns a share of its amount or a fixed amount.",
        {CommissionType.PERCENT: Option("Percent of each sale"), CommissionType.FLAT: Option("Amount per sale")},
    ] = CommissionType.PERCENT
    rate: Annotated[
        int,
        Setting("Rate", Kind.COMMISSION_RATE, COMMISSION, public_name="commission_rate", is_term=True),
        "The partner's commission on a sale: percent of the sale, or an amount in the program's currency.",
    ] = 2000
    commission_basis: Annotated[
        CommissionBasis,
        Setting("Percent of", Kind.CHOICE, COMMISSION, is_term=True),
        "What a commission in percent is of. Your server sends the tax and the shipping in a sale as tax_cents and "
        "shipping_cents; a connected payment account reports them.",
        {
            CommissionBasis.BEFORE_TAX: Option("The amount without tax and shipping"),
            CommissionBasis.TOTAL: Option("The whole amount, with tax and shipping"),
        },
    ] = CommissionBasis.BEFORE_TAX
    lead_commission_cents: Annotated[
        int,
        Setting("Commission per lead", Kind.CENTS, COMMISSION, is_term=True),
        "The partner's commission on a settled lead.",
    ] = 0
    minimum_order_cents: Annotated[
        int,
        Setting("Smallest order that earns", Kind.CENTS, COMMISSION, is_term=True),
        "A sale below this amount earns no commission. 0: every sale earns.",
    ] = 0
    recurring_months: Annotated[
        int | None,
        Setting("Recurring sales earn for", Kind.NUMBER, COMMISSION, "months", 0, 1200, "for life", is_term=True),
        "How long after a customer's first sale later sales earn commission. 0: only the first sale earns.",
    ] = None
    attribution_model: Annotated[
        AttributionModel,
        Setting("Who is credited", Kind.CHOICE, ATTRIBUTION),
        "Which partner is credited if a visitor follows the links of two.",
        {
            AttributionModel.LAST_CLICK: Option("Last click", "The last partner link before the sign-up is credited."),
            AttributionModel.FIRST_CLICK: Option("First click", "The first partner link is credited."),
        },
    ] = AttributionModel.LAST_CLICK
    coupon_wins: Annotated[
        CouponWins,
        Setting("Coupon against a click", Kind.CHOICE, ATTRIBUTION),
        "Which partner is credited with a new customer who followed one partner's link and used another's coupon.",
        {
            CouponWins.CLICK: Option("The click", "The coupon counts for customers without a click."),
            CouponWins.COUPON: Option("The coupon", "It decides until the customer's first sale."),
        },
    ] = CouponWins.CLICK
    cookie_window_days: Annotated[
        int,
        Setting("Cookie lasts", Kind.NUMBER, ATTRIBUTION, "days", 1, 3650),
        "How long a browser stores the click on a partner's link.",
    ] = 60
    attribution_window_days: Annotated[
        int,
        Setting("A click counts for", Kind.NUMBER, ATTRIBUTION, "days", 1, 3650),
        "How long after the click a visitor can still become a customer of the partner.",
    ] = 60
    hold_days: Annotated[
        int,
        Setting("Hold before approval", Kind.NUMBER, PAYING, "days", 0, 3650),
        "How long a commission waits for refunds before it can be approved.",
    ] = 15
    lead_auth_policy: Annotated[
        LeadAuthPolicy,
        Setting("Lead capture mode", Kind.CHOICE, ATTRIBUTION),
        "Whether a browser alone can settle a lead.",
        {
            LeadAuthPolicy.SERVER_REQUIRED: Option(
                "Server required",
                "A lead from a browser stays provisional until your server confirms it. "
                "The safe choice when leads earn commission.",
            ),
            LeadAuthPolicy.BROWSER_ALLOWED: Option(
                "Browser allowed",
                "A lead from a browser settles at once. Anyone can send one: choose it only if you have no server.",
            ),
        },
    ] = LeadAuthPolicy.SERVER_REQUIRED
    paid_ads: Annotated[
        PaidAds,
        Setting("Paid ads", Kind.CHOICE, LINKS),
        "Whether your terms let partners buy ads, for example on the name of your brand.",
        {
            PaidAds.ALLOWED: Option("Allowed"),
            PaidAds.FORBIDDEN: Option("Forbidden: clicks from search ads are flagged"),
        },
    ] = PaidAds.ALLOWED
    further_domains: Annotated[
        str | None,
        Setting("Further domains", Kind.HOSTS, LINKS, if_empty="none"),
        "Your other domains, such as pay.example: a visitor's click may cross between them and the domain.",
    ] = None
    old_links: Annotated[
        OldLinks,
        Setting("Links of your old tool", Kind.CHOICE, LINKS),
        "Whether links that your partners have from another tool go on working; their codes must be the same here.",
        {
            OldLinks.NONE: Option("Only links with ?aff="),
            OldLinks.VIA: Option("Also ?via= (Rewardful, Dub)"),
            OldLinks.FPR: Option("Also ?fpr= (FirstPromoter)"),
            OldLinks.REF: Option("Also ?ref= (Tapfiliate)"),
        },
    ] = OldLinks.NONE
    minimum_payout_cents: Annotated[
        int,
        Setting("Smallest payout", Kind.CENTS, PAYING, owner_only=True),
        "A partner to whom less is due is paid later. Each partner can have a minimum of their own.",
    ] = 0
    confirm_payouts: Annotated[
        bool,
        Setting("A second person confirms payouts", Kind.SWITCH, PAYING, owner_only=True),
        "Whether a person other than the one who drafted a payout must confirm it before it is sent.",
    ] = False
    platform_fee_bps: Annotated[
        int,
        Setting("Platform fee", Kind.PERCENT, PAYING, "% of commission", public_name="platform_fee_rate", is_term=True),
        "The platform's charge on top of each commission.",
    ] = 0
    partners_see_amounts: Annotated[
        bool,
        Setting("Partners see the amounts of sales", Kind.SWITCH, PORTAL, owner_only=True),
        "Whether partners see, beside what they earn, how much a sale was. They never see who bought.",
    ] = False
    partners_may_apply: Annotated[
        bool,
        Setting("Partners may apply", Kind.SWITCH, PORTAL, owner_only=True),
        "Whether there is a public page where people apply to become partners. A manager approves each one.",
    ] = False
    status: Annotated[
        ProgramStatus,
        Setting("Status", Kind.CHOICE, PAUSING, owner_only=True),
        "Whether the program accepts new clicks.",
        {ProgramStatus.ACTIVE: Option("Active"), ProgramStatus.PAUSED: Option("Paused: accepts no new clicks")},
    ] = ProgramStatus.ACTIVE


SETTINGS = declared(ProgramSettings("", ""))
BY_NAME = {setting.public_name: setting for setting in SETTINGS}


def stored(
    changes: Mapping[str, Any], settings: Iterable[Setting] = SETTINGS, *, kind: CommissionType = CommissionType.PERCENT
) -> dict[str, Any]:
    """Return changes from an API in their stored form; `kind` is the commission type before the change.

    Raises ValidationError for a rate that does not fit, or a new commission type without a new rate.
    """
    values = dict(changes)
    new_kind = values.get("commission_type", kind)
    if new_kind != kind and values.keys().isdisjoint({"rate", "commission_rate"}):
        missing = "Required with a new commission_type: percent and cents are not the same number"
        raise ValidationError(fields=[FieldError("commission_rate", missing)])
    for each in settings:
        if each.public_name in values:
            values[each.name] = each.stored(values.pop(each.public_name), new_kind)
    return values


def published(values: Any, settings: Iterable[Setting] = SETTINGS) -> dict[str, Any]:
    """Return the values of settings under the names and in the units of the APIs."""
    kind = getattr(values, "commission_type", CommissionType.PERCENT)
    return {each.public_name: each.published(getattr(values, each.name), kind) for each in settings}
