"""The bodies that the tracking calls answer 200 with, as models for the OpenAPI document."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from storage.rules.refund import RefundStatus
from storage.rules.settlement import LeadAuthPolicy
from web.error_model import RotationWarning


class Flaggable(BaseModel):
    """Whatever a program key gets; a flagged key's answers carry `warnings`."""

    success: Literal[True]
    warnings: list[RotationWarning] = []


class Accepted(BaseModel):
    """A click that the visitor now carries."""

    success: Literal[True]
    click_id: str
    partner_code: str
    cookie_window_days: int


class PartnerInactive(BaseModel):
    """The link's partner or program takes no clicks at present; nothing was counted."""

    success: Literal[False]
    reason: Literal["partner_inactive"]
    message: str


class TestData(BaseModel):
    """A stored test event; `programId` is null when nothing named a program."""

    __test__ = False
    eventId: int  # noqa: N815 - the specification's name
    programId: int | None  # noqa: N815 - the specification's name
    test_mode: Literal[True]


class TestRecorded(Flaggable):
    """A test-mode call was stored."""

    __test__ = False
    message: str
    data: TestData


class LeadRecorded(Flaggable):
    """A lead: settled, provisional (`provisional` true), or known before (`already_recorded` true)."""

    message: str
    provisional: Literal[True] = True
    already_recorded: Literal[True] = True


class SaleData(BaseModel):
    """A recorded sale; the commission is in cents of the program's `currency`."""

    eventId: int  # noqa: N815 - the specification's name
    programId: int  # noqa: N815 - the specification's name
    transaction_id: str
    customer_key: str | None
    commission_id: int | None
    commission_cents: int
    currency: str
    test_mode: Literal[False]


class SaleRecorded(Flaggable):
    """A sale was recorded."""

    message: str
    data: SaleData


class RefundData(BaseModel):
    """What the refund took and what remains, in the sale's currency; the reversal in the program's."""

    status: RefundStatus
    transaction_id: str
    refund_id: str | None
    refunded_cents: int
    refunded_total_cents: int
    remaining_cents: int
    commission_id: int | None
    commission_reversed_cents: int
    replayed: Literal[True] = True


class TestRefundData(RefundData):
    """A refund of a test sale."""

    __test__ = False
    eventId: int  # noqa: N815 - the specification's name
    programId: int  # noqa: N815 - the specification's name
    test_mode: Literal[True]


class RefundRecorded(Flaggable):
    """A refund was recorded; `replayed` says that this refund_id was known before."""

    message: str
    replayed: Literal[True] = True
    data: RefundData | TestRefundData


class RecentEvents(BaseModel):
    """What was counted in the last 24 hours."""

    clicks_24h: int
    leads_24h: int
    sales_24h: int


class ChecklistStep(BaseModel):
    """One step of the integration; `next_action` says how to prove it while it is open."""

    step: Literal["tracker_installed", "test_click", "test_lead", "test_sale", "live_click", "live_lead", "live_sale"]
    done: bool
    verified_at: datetime | None
    next_action: str | None


class StatusData(BaseModel):
    """A program's health."""

    program_id: int
    name: str
    domain: str
    lead_auth_policy: LeadAuthPolicy
    api_token_masked: str
    rotate_by: datetime | None
    payment_account_connected: bool
    recent_events: RecentEvents
    active_partners: int
    pending_commissions: int
    provisional_leads: int
    refused_calls_24h: int
    checklist: list[ChecklistStep]


class Status(Flaggable):
    """How the key's program is doing."""

    data: StatusData


class Up(BaseModel):
    """The probe's good news."""

    status: Literal["ok"]


class Document(BaseModel):
    """An OpenAPI 3.1 document."""

    openapi: str
