"""The columns of other tools' files, as their help pages name them."""

import pytest

from storage.rules import import_layouts
from storage.rules.import_layouts import FileKind, ImportTool


def test_a_file_s_columns_say_what_it_lists_and_those_that_are_not_read_are_named():
    documented = "stripe_customer_id,first_name,last_name,email,paypal_email,token"  # names the affiliate by e-mail

    of_customers = import_layouts.read(ImportTool.REWARDFUL, [documented, "cus_7,Nora,Blogs,nora@blogs.example,,nora"])
    of_partners = import_layouts.read(ImportTool.REWARDFUL, ["\ufeffToken,Email,PayPal Email", "nora,n@b.example,x"])

    assert of_customers.kind == FileKind.CUSTOMERS
    assert of_customers.rows == [
        (2, {"customer_id": "cus_7", "partner_code": "nora", "partner_email": "nora@blogs.example"})
    ]
    assert (of_partners.kind, of_partners.unread) == (FileKind.PARTNERS, ["paypal_email"])
    with pytest.raises(ValueError, match="names no column"):
        import_layouts.read(ImportTool.GENERIC, ["colour,size", "red,1"])
