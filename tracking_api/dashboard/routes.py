"""The dashboard's part of the route table."""

from tracking_api.dashboard import (
    assistants,
    audit_log,
    commissions,
    customers,
    device_login,
    events,
    integration,
    partners,
    payment_account,
    payment_events,
    performance,
    program_keys,
    programs,
    refused_calls,
    sessions,
)
from web.routes import route

PROGRAM = "/api/programs/{program_id}"
ROUTES = [
    route("/api/tracking/performance/{program_id}", GET=performance.show),
    route("/api/auth/login", POST=sessions.login),
    route("/api/auth/logout", POST=sessions.logout),
    route("/api/auth/me", GET=sessions.me),
    route("/api/auth/device", POST=device_login.ask),
    route("/api/auth/device/token", POST=device_login.token),
    route("/api/assistants", GET=assistants.index),
    route("/api/assistants/{assistant_id}", DELETE=assistants.disconnect),
    route("/api/programs", GET=programs.index, POST=programs.create),
    route(PROGRAM, GET=programs.show, PATCH=programs.change),
    route(f"{PROGRAM}/regenerate-api-token", POST=program_keys.regenerate),
    route(f"{PROGRAM}/partners", GET=partners.index, POST=partners.enrol),
    route(f"{PROGRAM}/partners/{{partner_id}}", PATCH=partners.change),
    route(f"{PROGRAM}/customers", GET=customers.index),
    route(f"{PROGRAM}/customers/{{customer_id}}", GET=customers.show),
    route(f"{PROGRAM}/commissions", GET=commissions.index, PATCH=commissions.decide_each),
    route(f"{PROGRAM}/commissions/{{commission_id}}", PATCH=commissions.decide),
    route(f"{PROGRAM}/events", GET=events.index),
    route(f"{PROGRAM}/refused-calls", GET=refused_calls.index),
    route(f"{PROGRAM}/audit-log", GET=audit_log.index),
    route(
        f"{PROGRAM}/payment-account",
        PUT=payment_account.connect,
        GET=payment_account.show,
        DELETE=payment_account.disconnect,
    ),
    route(f"{PROGRAM}/payment-events", GET=payment_events.index),
    route(f"{PROGRAM}/payment-events/{{event_id}}", PATCH=payment_events.decide),
    route(f"{PROGRAM}/integration", GET=integration.show),
    route(f"{PROGRAM}/explain", GET=integration.why),
]
