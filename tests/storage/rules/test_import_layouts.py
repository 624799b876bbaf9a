"""The columns of other tools' files, as their help pages name them."""

from storage.rules import import_layouts
from storage.rules.import_layouts import FileKind, ImportTool


def test_the_file_that_rewardful_documents_names_the_affiliate_by_email():
    header = "stripe_customer_id,first_name,last_name,email,paypal_email,token"

    file = import_layouts.read(ImportTool.REWARDFUL, [header, "cus_7,Nora,Blogs,nora@blogs.example,,nora"])

    assert file.kind == FileKind.CUSTOMERS
    assert file.rows == [
        (2, {"customer_id": "cus_7", "partner_code": "nora", "partner_email": "nora@blogs.example"}),
    ]
