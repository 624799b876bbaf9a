"""The lists as JSON; each app's route table says who may read them."""

from presentation.lists import listing
from presentation.resources import (
    AuditEntryView,
    CommissionView,
    CustomerView,
    EventView,
    FlagView,
    ListedPartnerView,
    ProgramView,
    RefusedCallView,
)
from storage.lists.audit_log import AUDIT_LOG
from storage.lists.commissions import COMMISSIONS
from storage.lists.customers import CUSTOMERS
from storage.lists.events import EVENTS
from storage.lists.flags import FLAGS
from storage.lists.partners import PARTNERS
from storage.lists.payment_events import PAYMENT_EVENTS
from storage.lists.programs import PROGRAMS
from storage.lists.rejected_calls import REJECTED_CALLS
from storage.lists.tracking_log import TRACKING_LOG

list_programs = listing(PROGRAMS, ProgramView)
list_partners = listing(PARTNERS, ListedPartnerView)
list_customers = listing(CUSTOMERS, CustomerView)
list_commissions = listing(COMMISSIONS, CommissionView)
list_flags = listing(FLAGS, FlagView)
list_events = listing(EVENTS, EventView)
list_rejected_calls = listing(REJECTED_CALLS, RefusedCallView)
list_tracking_log = listing(TRACKING_LOG)
list_audit_log = listing(AUDIT_LOG, AuditEntryView)
list_payment_events = listing(PAYMENT_EVENTS, tag="payments")
