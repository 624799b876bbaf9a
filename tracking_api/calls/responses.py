"""The bodies of successful tracking calls. The calls send faster dicts; tests compare them with these models."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from presentation.view import View
from storage.rules.refund import RefundStatus
from storage.rules.settlement import LeadAuthPolicy
from web.error_model import EmailWarning, RotationWarning


class FlaggableView(View):
    """A successful response; `warnings` say that the key is flagged, or that an e-mail was left out."""

    success: Literal[True]
    warnings: Sequence[RotationWarning | EmailWarning] = ()


class ClickAcceptedView(View):
    """A recorded click; the visitor's browser stores its `click_id`."""

    success: Literal[True]
    click_id: str
    partner_code: str
    cookie_window_days: int


class AllowedView(View):
    """The page may make the call."""

    success: Literal[True]


class HandoverView(View):
    """A token for a link to another domain of the program; it works once."""

    success: Literal[True]
    token: str
    expires_in_seconds: int


class RedeemedView(View):
    """The click that the visitor carries from now on: the one that came with them, or the one that they had."""

    success: Literal[True]
    click_id: str
    cookie_window_days: int


class PartnerInactiveView(View):
    """The partner or the program is not active; the click does not count."""

    success: Literal[False]
    reason: Literal["partner_inactive"]
    message: str


class TestDataView(View):
    """A stored test event; `programId` is 0 if the request named no program."""

    __test__ = False
    eventId: int  # noqa: N815 - the specification's name
    programId: int  # noqa: N815 - the specification's name
    test_mode: Literal[True]


class TestRecordedView(FlaggableView):
    """A test-mode call was stored."""

    __test__ = False
    message: str
    data: TestDataView


class LeadRecordedView(FlaggableView):
    """A lead: settled, provisional (`provisional` true), or already recorded (`already_recorded` true)."""

    message: str
    provisional: Literal[True] = True
    already_recorded: Literal[True] = True


class SaleDataView(View):
    """A recorded sale; the commission is in cents of the program's `currency`.

    `customer_key_saved` is false where the customer does not carry `customer_key`: only a lead saves it.
    """

    eventId: int  # noqa: N815 - the specification's name
    programId: int  # noqa: N815 - the specification's name
    transaction_id: str
    customer_key: str | None
    commission_id: int | None
    commission_cents: int
    currency: str
    customer_key_saved: bool
    test_mode: Literal[False]


class SaleRecordedView(FlaggableView):
    """A sale was recorded."""

    message: str
    data: SaleDataView


class RefundDataView(View):
    """The refunded and the remaining amount in the sale's currency, and the reversal in the program's."""

    status: RefundStatus
    transaction_id: str
    refund_id: str | None
    refunded_cents: int
    refunded_total_cents: int
    remaining_cents: int
    commission_id: int | None
    commission_reversed_cents: int
    replayed: Literal[True] = True


class TestRefundDataView(RefundDataView):
    """A refund of a test sale."""

    __test__ = False
    eventId: int  # noqa: N815 - the specification's name
    programId: int  # noqa: N815 - the specification's name
    test_mode: Literal[True]


class RefundRecordedView(FlaggableView):
    """A refund was recorded; `replayed` is true if this refund_id was already recorded."""

    message: str
    replayed: Literal[True] = True
    data: RefundDataView | TestRefundDataView


class RecentEventsView(View):
    """Counts of the last 24 hours."""

    clicks_24h: int
    leads_24h: int
    sales_24h: int


class LatestPaymentsView(View):
    """Of the payment account's last 50 events: how many report a payment, how many of these name a customer."""

    events: int
    payments: int
    with_customer: int


class ChecklistStepView(View):
    """One step of the integration; `next_action` says what to do if it is not done."""

    step: Literal["tracker_installed", "test_click", "test_lead", "test_sale", "live_click", "live_lead", "live_sale"]
    done: bool
    verified_at: datetime | None
    next_action: str | None


class StatusDataView(View):
    """A program's health. Only a sandbox has `sandbox_of`, the id of its live program.

    Only a program with a connected payment account has `latest_payments`.
    """

    program_id: int
    name: str
    domain: str
    lead_auth_policy: LeadAuthPolicy
    api_token_masked: str
    rotate_by: datetime | None
    payment_account_connected: bool
    recent_events: RecentEventsView
    active_partners: int
    pending_commissions: int
    provisional_leads: int
    refused_calls_24h: int
    checklist: list[ChecklistStepView]
    sandbox_of: int | None = None
    latest_payments: LatestPaymentsView | None = None


class StatusView(FlaggableView):
    """The health of the key's program."""

    data: StatusDataView
