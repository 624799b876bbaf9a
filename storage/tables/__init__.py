"""The tables, as the `.sql` files beside this one declare them: `from storage.tables import clicks`.

`metadata` is what migrations and models agree on.
"""

from sqlalchemy import ForeignKeyConstraint, Table

from storage.tables.columns import AssignedId
from storage.tables.columns import metadata as metadata
from storage.tables.schema import declare_tables

for _subject in ("event", "integration", "payout", "portal", "program", "workspace"):
    declare_tables(_subject)


def __getattr__(name: str) -> Table:
    """Return the table of this name."""
    if name not in metadata.tables:
        raise AttributeError(f"there is no table {name}")
    return metadata.tables[name]


_clicks, _commissions = metadata.tables["clicks"], metadata.tables["commissions"]
_partner = ForeignKeyConstraint(["program_id", "partner_id"], ["partners.program_id", "partners.id"])
_clicks.append_constraint(_partner.ddl_if("sqlite"))  # elsewhere clicks are partitioned by month
_commissions.c.approved_by_key_id.type = AssignedId()
