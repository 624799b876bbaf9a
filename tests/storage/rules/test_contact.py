"""E-mail addresses are stored as hashes: one of the address, and one of its mailbox, by which people are compared."""

import pytest

from storage.rules.contact import is_email, protect

ONE_MAILBOX = [
    [
        "jane@mail.example",
        " Jane@mail.example",
        "jane+shop@MAIL.example.",
        "\uff4aane\uff20mail.example",
        "ja\u200bne@mail.example",
    ],
    ["jane.roe@gmail.com", "janeroe@gmail.com", "j.a.n.e.r.o.e+1@googlemail.com"],
    ["jane.roe@mail.example"],
    ["janeroe@mail.example"],
    ["+1@mail.example"],
]


def test_every_spelling_of_a_mailbox_has_one_hash_and_no_other_mailbox_has_it():
    assert all(is_email(email) for spellings in ONE_MAILBOX for email in spellings)
    hashes = [{protect(email).mailbox_hash for email in spellings} for spellings in ONE_MAILBOX]

    assert [len(each) for each in hashes] == [1] * len(hashes)
    assert len(set().union(*hashes)) == len(hashes)


@pytest.mark.parametrize("email", ["jane+shop@mail.example", "j.ane@gmail.com"])
def test_the_address_itself_keeps_a_hash_of_its_own(email: str):
    assert protect(f" {email.upper()}").hash == protect(email).hash != protect(email).mailbox_hash
