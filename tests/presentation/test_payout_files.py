"""The files of a payout say what is paid to whom, and how many payments they have; each takes what it can send."""

import csv
import io
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import sepaxml
import xmlschema

from presentation.payout_documents import PROVIDERS
from presentation.payout_files.provider import Batch, PartnerPayment, reference_of, write_file
from storage.rules.errors import ValidationError
from storage.rules.payout import MethodKind

IBAN, PAYER = "DE89370400440532013000", "NL91ABNA0417164300"
BANK = {"holder": "Łukasz & <Żak> 渡辺", "iban": IBAN, "bic": "COBADEFFXXX"}
SCHEMA = Path(sepaxml.__file__).parent / "schemas" / "pain.001.001.09.xsd"
PAYMENTS = (
    PartnerPayment(1, "Anna", "anna", 21_420, MethodKind.PAYPAL, {"email": "=cmd@partners.example"}),
    PartnerPayment(2, "=Ben;+1", "ben", 5_880, MethodKind.PAYPAL, {"email": "ben@partners.example"}),
    PartnerPayment(3, "Amara", "amara", 12_140, MethodKind.WISE, {"email": "amara@partners.example"}),
    PartnerPayment(4, "Tom", "tom", 14_400, MethodKind.BANK, BANK),
    PartnerPayment(
        5, "Uma", "uma", 100, MethodKind.BANK, {"holder": "Uma", "account_number": "1", "routing_number": "2"}
    ),
    PartnerPayment(6, "Zoe", "zoe", 900, None, {}),
)


def batch(currency: str = "EUR", **about: Any) -> Batch:
    fields: dict[str, Any] = {"payer_iban": PAYER, "payments": PAYMENTS, **about}
    return Batch(7, "Acme", currency, date(2026, 11, 23), "ACME-2026-11", **fields)


def rows(kind: str, **about: Any) -> list[list[str]]:
    return list(csv.reader(io.StringIO(write_file(PROVIDERS[kind], batch(**about))[1].decode())))


def test_a_paypal_file_has_a_line_for_each_recipient_and_starts_no_formula():
    assert rows("paypal", currency="USD") == [
        ["'=cmd@partners.example", "214.20", "USD", "1", "Acme ACME-2026-11", "PAYPAL"],
        ["ben@partners.example", "58.80", "USD", "2", "Acme ACME-2026-11", "PAYPAL"],
    ]


def test_a_wise_file_pays_the_recipient_the_whole_amount_in_the_currency():
    header, *lines = rows("wise", currency="JPY")

    assert header[:3] == ["name", "recipientEmail", "paymentReference"]
    assert lines == [["Amara", "amara@partners.example", "ACME-2026-11", "target", "12140", "JPY", "JPY", "EMAIL"]]


def test_a_table_of_all_payments_ends_with_their_number_and_sum():
    header, *lines, last = rows("csv")

    assert [(line[1], line[3]) for line in lines[:2]] == [("Anna", "214.20"), ("'=Ben;'+1", "58.80")]
    assert dict(zip(header, lines[3], strict=True))["iban"] == IBAN
    assert last[:5] == ["Total", "6", "", "548.40", "EUR"]


def test_a_sepa_file_fits_the_schema_of_its_standard_whatever_a_partner_is_called():
    paid, written = write_file(PROVIDERS["sepa"], batch())

    xmlschema.XMLSchema(SCHEMA).validate(written.decode())
    _, again = write_file(PROVIDERS["sepa"], batch())
    assert [each.cents for each in paid.payments] == [14_400]
    assert b"<Nm>Lukasz Zak Du Bian</Nm>" in written
    assert all(b"<MsgId>PAYOUT-7</MsgId>" in each for each in (written, again))


@pytest.mark.parametrize("about", [{"payer_iban": None}, {"currency": "USD"}])
def test_a_sepa_file_needs_the_account_that_pays_and_euros(about: dict[str, Any]):
    with pytest.raises(ValidationError):
        write_file(PROVIDERS["sepa"], batch(**about))


def test_each_provider_says_which_payments_it_leaves_to_others_and_why():
    left = {kind: provider.taken(batch("USD"))[1] for kind, provider in PROVIDERS.items()}

    assert left["csv"] == {}
    assert left["sepa"] == {"is paid by another method": 4, "has no IBAN": 1, "SEPA pays in euro alone": 1}


def test_a_file_has_no_more_payments_than_its_service_takes():
    many = [PAYMENTS[2]._replace(line_id=n) for n in range(1_001)]

    taken, left = PROVIDERS["wise"].taken(batch(payments=many))

    assert (len(taken.payments), left) == (1_000, {"a file has at most 1,000 payments": 1})


def test_a_reference_is_made_of_the_programs_name():
    assert reference_of("Ledgerly, Élan!", date(2026, 11, 23)) == "LEDGERLY-ELAN-2026-11-23"
    assert reference_of("渡辺", date(2026, 11, 23)) == "DU-BIAN-2026-11-23"
