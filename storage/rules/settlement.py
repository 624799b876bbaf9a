"""What a lead does to a customer: the specification's tables "Lead settlement" and "Customer status"."""

from enum import StrEnum

from storage.rules.errors import StatusTransitionRefused


class LeadAuthPolicy(StrEnum):
    """Whether a browser alone can settle a lead (the "Lead capture mode")."""

    SERVER_REQUIRED = "server_required"
    BROWSER_ALLOWED = "browser_allowed"


class CustomerStatus(StrEnum):
    """The status of a customer; a provisional one is not counted yet."""

    PROVISIONAL = "provisional"
    LEAD = "lead"
    CONVERSION = "conversion"


class Settlement(StrEnum):
    """The state of a customer's lead."""

    NONE = "none"
    PROVISIONAL = "provisional"
    SETTLED = "settled"
    OUTRANKED = "outranked"  # a browser's lead, whose customer_key the server gave to another customer


def move(
    settlement: Settlement,
    status: CustomerStatus,
    *,
    with_key: bool,  # which alone settles an outranked lead
    policy: LeadAuthPolicy,
    has_paid: bool = False,  # through the connected account, which settles the lead whatever the customer's status
) -> Settlement:
    """Return the lead's next state. Raises StatusTransitionRefused for a customer who has already converted."""
    if status == CustomerStatus.CONVERSION and not has_paid:
        raise StatusTransitionRefused
    stays = settlement == Settlement.SETTLED or (settlement == Settlement.OUTRANKED and not with_key)
    settles = with_key or policy == LeadAuthPolicy.BROWSER_ALLOWED
    moved = Settlement.SETTLED if settles else Settlement.PROVISIONAL
    return settlement if stays else moved
