"""What members and agents change alike: the bodies of requests about programs, and the actions that take them."""

import re
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.resources import PartnerView, ProgramView, tagged
from presentation.settings_models import Name, changed, created, with_settings
from storage.lists.commissions import Commission
from storage.lists.coupons import Coupon
from storage.lists.customers import ListedCustomer
from storage.lists.flags import Flag
from storage.lists.partners import PartnerTerms
from storage.management import by_hand, commission_decisions, coupons, flag_decisions, partners, special_terms
from storage.management.program_settings import change as change_settings
from storage.management.referrals import click_of
from storage.rules import errors
from storage.rules.agent_caps import CAPS
from storage.rules.attribution import CODE, LONGEST_CODE, PartnerStatus
from storage.rules.commission import MOST_CENTS, CommissionStatus
from storage.rules.fraud.flag import FlagState
from storage.rules.settings import SETTINGS
from web.body import Body, Currency, Identifier, Text
from web.response import CreatedResponse, ModelResponse

ETAG = re.compile(r'(?<!W/)"(\d{1,18})"')  # a weak tag never (RFC 9110, 13.1.1)
NOT_CREDITED = (
    *(errors.DuplicateTransaction, errors.PartnerNotFound, errors.CustomerNotFound, errors.CustomerWrongProgram),
    *(errors.CustomerNotAttributed, errors.IdentifierConflict, errors.CurrencyNotSupported, errors.OverCap),
)
Email = Annotated[
    str, StringConstraints(max_length=255, pattern=r"^[^\s@\x00-\x1f\x7f-\u009f]+@[^\s@\x00-\x1f\x7f-\u009f]+$")
]
Code = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_CODE, pattern=CODE)]
RowId = Annotated[int, Field(ge=1, le=2**31 - 1)]
LargeId = Annotated[int, Field(ge=1, le=2**53)]
with_agent_settings = with_settings(changed, [setting for setting in SETTINGS if not setting.owner_only])


class Changes(Body):
    """A body whose absent fields do not change; its defaults are never read."""

    def sent(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True)


@with_agent_settings
class AgentProgramChange(Changes):
    """The settings of a program that an agent may change; send those that change."""


@with_settings(changed)
class ProgramChange(Changes):
    """The settings of a program, which its owner may change; send those that change."""


@with_settings(created)
class NewProgram(Changes):
    """A new program; an owner of one workspace may leave out `workspace_id`."""

    workspace_id: RowId | None = None


@with_settings(changed, CAPS)
class AgentCapsChange(Changes):
    """The caps of a program's agent keys, which its owner may change; send those that change."""


class PartnerChange(Changes):
    """The fields of a partner that may change; send those that change."""

    name: Name = ""
    email: Email | None = None
    code: Code = ""
    status: PartnerStatus = PartnerStatus.ACTIVE
    minimum_payout_cents: Annotated[int, Field(ge=0, le=MOST_CENTS)] | None = None


class NewPartner(PartnerChange):
    """A new partner; their links have `code` as `?aff=`."""

    name: Name
    code: Code


@with_settings(changed, special_terms.REPLACING)
class TermsChange(Changes):
    """Terms that replace the program's for a group of partners; what is absent stays as it applies to it now.

    A `commission_rate` of null ends them.
    """


class PartnerTermsChange(TermsChange):
    """A partner's own terms, which apply before those of their group, and the `group`; null: in none.

    What is absent stays as it applies to the partner now. A `commission_rate` of null ends their own terms.
    """

    group: Annotated[str, StringConstraints(min_length=1, max_length=special_terms.LONGEST_GROUP)] | None = None


class NewCoupon(Body):
    """A coupon of a partner, whose `code` customers enter: the `coupon_code` of sales and leads, in any case."""

    partner_id: LargeId
    code: Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=r"^[!-~]+$")]


class CommissionChange(Body):
    """The new status of a commission: approved, rejected or paid, for which an agent needs commissions:pay."""

    status: CommissionStatus


class OwnerCommissionChange(CommissionChange):
    """The new status of a commission; with `override_hold_reason` an owner approves it while it is on hold."""

    override_hold_reason: Name | None = None


class CommissionChanges(CommissionChange):
    """The new status of several commissions."""

    ids: Annotated[list[LargeId], Field(min_length=1, max_length=200)]


class Credit(Body):
    """A sale that was not reported, for the partner with `partner_id` or the one whose click `click_id` is.

    It is priced by the commission terms of its time, `occurred_at`, and its commission is on hold like any other.
    """

    partner_id: LargeId | None = None
    click_id: Identifier | None = None
    amount_cents: Annotated[int, Field(ge=1, le=10**12)]
    currency: Currency
    transaction_id: Identifier | None = None
    customer_key: Identifier | None = None
    occurred_at: AwareDatetime | None = None
    reason: Name


class BalanceChange(Body):
    """A bonus for a partner, or a correction if it is negative, in cents of the program's currency."""

    partner_id: LargeId
    amount_cents: Annotated[int, Field(ge=-MOST_CENTS, le=MOST_CENTS)]
    reason: Name


class CustomerMove(Body):
    """The partner who earns on a customer's later sales; `past` says whether unpaid commissions go with them."""

    partner_id: LargeId
    past: partners.Past
    reason: Name


class FlagDecision(Body):
    """The decision on a flag: `dismissed` releases the commissions that it holds, `confirmed` rejects them."""

    state: Literal[FlagState.DISMISSED, FlagState.CONFIRMED]
    reason: Text | None = None


@operation(
    *(errors.CurrencyNotSupported, errors.PreconditionFailed),
    headers={"If-Match": "The ETag of the version to change; if there is a newer one, the response is 412."},
    response_headers=("ETag",),
)
async def change_program(call: ApiRequest, sent: ProgramChange) -> ModelResponse[ProgramView]:
    """Change a program's settings; new terms apply to later sales only."""
    tags = call.request.headers.get("if-match", "*")
    expected = None if tags.strip() == "*" else {*map(int, ETAG.findall(tags))}
    if "revision" in call.named:  # what the form shows
        expected = {call.path_id("revision")}
    return tagged(await call.write(change_settings, sent.sent(), expected_revisions=expected))


@operation(notice="partner-added")
async def enrol_partner(call: ApiRequest, sent: NewPartner) -> CreatedResponse[PartnerView]:
    """Enrol a partner."""
    return await call.create(PartnerView, partners.enrol, **sent.sent())


@operation(notice="partner-changed")
async def change_partner(call: ApiRequest, sent: PartnerChange) -> PartnerView:
    """Change a partner."""
    return PartnerView.of(await call.write(partners.change, call.path_id("partner_id"), sent.sent()))


@operation(errors.OverCap, notice="terms-set")
async def set_partner_terms(call: ApiRequest, sent: PartnerTermsChange) -> PartnerView:
    """Set the terms and the group of a partner."""
    return PartnerView.of(await call.write(special_terms.set_for_partner, call.path_id("partner_id"), sent.sent()))


@operation(errors.OverCap, notice="terms-set")
async def set_group_terms(call: ApiRequest, sent: TermsChange) -> PartnerTerms:
    """Set the terms of a group of partners."""
    return await call.write(special_terms.set_for_group, call.path_name("group"), sent.sent())


@operation(errors.PartnerNotFound, notice="coupon-added")
async def create_coupon(call: ApiRequest, sent: NewCoupon) -> CreatedResponse[Coupon]:
    """Create a coupon of a partner."""
    return await call.create(Coupon, coupons.create, **dict(sent))


@operation(notice="coupon-ended")
async def end_coupon(call: ApiRequest) -> Coupon:
    """End a coupon; customers whom it credited stay with their partner."""
    return await call.write(coupons.end, call.path_id("coupon_id"))


@operation(errors.CommissionOnHold, errors.CommissionFlagged)
async def decide_commission(call: ApiRequest, sent: OwnerCommissionChange) -> Commission:
    """Approve, reject or pay a commission."""
    return await call.write(commission_decisions.decide, call.path_id("commission_id"), **dict(sent))


@operation()
async def decide_flag(call: ApiRequest, sent: FlagDecision) -> Flag:
    """Dismiss or confirm a sign of fraud."""
    return await call.write(flag_decisions.decide, call.path_id("flag_id"), **dict(sent))


@operation(*NOT_CREDITED, notice="credited")
async def credit_sale(call: ApiRequest, sent: Credit) -> CreatedResponse[Commission]:
    """Credit a sale that was not reported."""
    click_id = click_of(sent.click_id, lambda: call.sealer)
    return await call.create(Commission, by_hand.credit_sale, **dict(sent) | {"click_id": click_id})


@operation(errors.PartnerNotFound, errors.OverCap, notice="adjusted")
async def adjust_balance(call: ApiRequest, sent: BalanceChange) -> CreatedResponse[by_hand.Adjustment]:
    """Give a partner a bonus, or correct their balance."""
    return await call.create(by_hand.Adjustment, by_hand.adjust, **dict(sent))


@operation(errors.PartnerNotFound, errors.OverCap, notice="customer-moved")
async def move_customer(call: ApiRequest, sent: CustomerMove) -> ListedCustomer:
    """Move a customer to another partner."""
    return await call.write(partners.move_customer, call.path_id("customer_id"), **dict(sent))
