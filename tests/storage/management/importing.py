"""What the tests of imports share: files in the shapes of other tools, and their import."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from storage.engine.audit import OPERATOR
from storage.management import imports
from storage.rules import tool_exports
from storage.rules.tool_exports import ImportTool
from storage.tables import clicks, commissions, customers, partners
from tests.world import NOW, World

PARTNERS = "id,code,name,email,status,created_at\n1,nora,Nora Blogs,nora@blogs.example,active,2025-01-02\n"
CUSTOMERS = "customer_id,customer_email,partner_code,signup_at\nuser-7,jane@example.com,nora,2025-02-03T10:00:00Z\n"
COMMISSIONS = (
    "transaction_id,customer_id,partner_code,sale_amount,commission_amount,currency,status,sold_at,paid_at\n"
    "inv-1,user-7,nora,100.00,30.00,USD,paid,2025-02-04,2025-03-01\n"
    "inv-2,user-7,nora,100.00,30.00,USD,pending,2025-04-04,\n"
    "inv-3,user-7,nora,50.00,15.00,USD,rejected,2025-05-04,\n"
)
GENERIC = (PARTNERS, CUSTOMERS, COMMISSIONS)
# The columns that each vendor documents, read in November 2026; docs/importing.md links the pages.
EXPORTS: dict[ImportTool, tuple[str, ...]] = {
    ImportTool.GENERIC: GENERIC,
    # help.rewardful.com, article 1988486 "How do I import data into Rewardful?"; developers.rewardful.com, the objects
    ImportTool.REWARDFUL: (
        (
            "ID,First Name,Last Name,Email,State,Token,Created At\n"
            "af-1,Nora,Blogs,nora@blogs.example,active,nora,2025-01-02 09:30:00 UTC\n"
        ),
        (
            "Stripe Customer ID,Customer Email,Affiliate Email,Became Lead At\n"
            "cus_7,jane@example.com,Nora@Blogs.example,2025-02-03 10:00:00 UTC\n"
        ),
        (
            "ID,Amount,Currency,State,Sale ID,Sale Amount,Stripe Customer ID,Affiliate Email,Created At,Paid At\n"
            "co-1,30.00,USD,paid,inv-1,100.00,cus_7,nora@blogs.example,2025-02-04 00:00:00 UTC,2025-03-01\n"
            "co-2,30.00,USD,due,inv-2,100.00,cus_7,nora@blogs.example,2025-04-04 00:00:00 UTC,\n"
            "co-3,15.00,USD,voided,inv-3,50.00,cus_7,nora@blogs.example,2025-05-04 00:00:00 UTC,\n"
        ),
    ),
    # docs.firstpromoter.com, "List rewards and commissions" of the API: amounts in cents, `unit` is cash for money
    ImportTool.FIRSTPROMOTER: (
        "id,email,first_name,last_name,ref_id,status,joined_at\n9,nora@blogs.example,Nora,Blogs,nora,active,2025-01-02\n",
        "uid,lead_email,promoter_id,created_at\nuser-7,jane@example.com,9,2025-02-03T10:00:00Z\n",
        (
            "id,amount,unit,conversion_amount,event_id,uid,promoter_email,status,created_at,paid_at\n"
            "1,3000,cash,10000,inv-1,user-7,nora@blogs.example,paid,2025-02-04T00:00:00Z,2025-03-01T00:00:00Z\n"
            "2,3000,cash,10000,inv-2,user-7,nora@blogs.example,pending,2025-04-04T00:00:00Z,\n"
            "3,1500,cash,5000,inv-3,user-7,nora@blogs.example,denied,2025-05-04T00:00:00Z,\n"
        ),
    ),
    # support.tapfiliate.com, article 2446220 "Importing conversions in Bulk": the columns of its CSV files
    ImportTool.TAPFILIATE: (
        "id,firstname,lastname,email,referral_code,created_at\na1,Nora,Blogs,nora@blogs.example,nora,2025-01-02\n",
        "customer_id,affiliate_id,created_at\nuser-7,a1,2025-02-03T10:00:00+00:00\n",
        (
            "external_id,amount,created_at,affiliate_email,program,customer_id,commission_status,commission_amount,paid_at\n"
            "inv-1,100,2025-02-04T00:00:00+00:00,nora@blogs.example,main,user-7,approved,30,2025-03-01\n"
            "inv-2,100,2025-04-04T00:00:00+00:00,nora@blogs.example,main,user-7,,30,\n"
            "inv-3,50,2025-05-04T00:00:00+00:00,nora@blogs.example,main,user-7,disapproved,15,\n"
        ),
    ),
    # github.com/dubinc/dub, apps/web/lib/zod/schemas/commissions.ts (COMMISSION_EXPORT_COLUMNS) and partners.ts: the
    # export of partners has no code
    ImportTool.DUB: (
        (
            "ID,Name,Email,Country,Status,Enrolled at\n"
            "pn_1,Nora Blogs,nora@blogs.example,US,approved,2025-01-02T00:00:00.000Z\n"
        ),
        (
            "externalId,customerEmail,partnerEmail,createdAt\n"
            "user-7,jane@example.com,nora@blogs.example,2025-02-03T10:00:00.000Z\n"
        ),
        (
            "ID,Type,Amount,Earnings,Currency,Status,Invoice ID,Quantity,Created at,Paid at,Partner ID,Partner name,"
            "Partner email,Customer ID,Customer name,Customer email,Customer external ID\n"
            "cm_1,sale,$100.00,US$30.00,usd,paid,inv-1,1,2025-02-04T00:00:00.000Z,2025-03-01T00:00:00.000Z,"
            "pn_1,Nora,nora@blogs.example,cus_of_dub,Jane,jane@example.com,user-7\n"
            "cm_2,sale,$100.00,$30.00,usd,processed,inv-2,1,2025-04-04T00:00:00.000Z,,"
            "pn_1,Nora,nora@blogs.example,cus_of_dub,Jane,jane@example.com,user-7\n"
            "cm_3,sale,$50.00,$15.00,usd,fraud,inv-3,1,2025-05-04T00:00:00.000Z,,"
            "pn_1,Nora,nora@blogs.example,cus_of_dub,Jane,jane@example.com,user-7\n"
        ),
    ),
}


async def imported(acme: World, files: Sequence[str], tool: ImportTool = ImportTool.GENERIC, **options: Any) -> Any:
    """Import files and return the report."""
    unit = options.pop("amounts", None)
    read = [tool_exports.read(f"file-{n}.csv", text.splitlines(), tool, unit) for n, text in enumerate(files)]
    about = {"dry_run": False, "actor": OPERATOR, "at": NOW, **options}
    return await acme.store.write(imports.run, acme.program_id, read, **about)


def counts(connection: Connection) -> list[int]:
    tables = (partners, customers, commissions, clicks)
    return [connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables]
