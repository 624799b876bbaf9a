"""The recorded sales and leads of a program since a time, a chunk at once, each with its customer and commission."""

from sqlalchemy import BigInteger, bindparam, select

from storage.rules.settlement import Settlement
from storage.tables import commissions, customers, leads, partners, sales
from storage.tables.columns import Timestamp

CHUNK = 5_000
_after, _since = bindparam("after", type_=BigInteger), bindparam("since", type_=Timestamp)
_program = bindparam("program_id", type_=BigInteger)
_sale, _lead, _earned, _customer = sales.c, leads.c, commissions.c, customers.c
_EARNED = (
    *(_earned.partner_id.label("earner_id"), _earned.amount_cents.label("earned_cents"), _earned.terms_version),
    *(_earned.status.label("earned_status"), _earned.hold_until),
)
SALES = (
    select(sales, _customer.first_purchase_at, _customer.clicked_at, *_EARNED)
    .join(customers, (_customer.program_id == _sale.program_id) & (_customer.id == _sale.customer_id))
    .outerjoin(commissions, (_earned.program_id == _sale.program_id) & (_earned.sale_id == _sale.id))
    .where(_sale.program_id == _program, _sale.id > _after, _sale.occurred_at >= _since)
    .order_by(_sale.id)
    .limit(CHUNK)
)
LEADS = (
    select(leads, _customer.created_at, _customer.clicked_at, partners.c.status, *_EARNED)
    .join(customers, (_customer.program_id == _lead.program_id) & (_customer.id == _lead.customer_id))
    .join(partners, (partners.c.program_id == _lead.program_id) & (partners.c.id == _lead.partner_id))
    .outerjoin(commissions, (_earned.program_id == _lead.program_id) & (_earned.lead_id == _lead.id))
    .where(_lead.program_id == _program, _lead.id > _after, _lead.at >= _since, _lead.settlement == Settlement.SETTLED)
    .order_by(_lead.id)
    .limit(CHUNK)
)
