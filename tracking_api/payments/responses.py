"""The bodies that webhooks answer with, as models for the OpenAPI document."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from presentation.lists import Listed


class PaymentEvent(BaseModel):
    """An event of the payment account; amounts are in minor units of `currency`, null where it told none.

    `is_test`: of the processor's test mode; it counts like any other.
    """

    id: int
    event_id: str
    type: str
    outcome: str
    transaction_id: str | None
    waits_for: str | None
    amount_cents: int | None
    currency: str | None
    is_test: bool
    occurred_at: datetime
    received_at: datetime


class PaymentEvents(Listed):
    """A page of payment events, newest first."""

    data: list[PaymentEvent]


class Received(BaseModel):
    """The event was taken; `outcome` says what it did."""

    received: Literal[True]
    outcome: str
    transaction_id: str | None
