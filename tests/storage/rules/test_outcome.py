"""Every outcome and every error has its words."""

from storage.rules import errors
from storage.rules.outcome import MESSAGES, SaleOutcome


def test_every_outcome_has_a_message_and_only_a_credited_sale_needs_no_change():
    assert {*SaleOutcome, *errors.CODES} == MESSAGES.keys()
    assert [each for each in MESSAGES.values() if not each.text] == []
    assert [name for name, each in MESSAGES.items() if not each.change] == [SaleOutcome.CREDITED]


def test_every_error_has_a_code_of_its_own_a_message_and_a_hint_in_whole_sentences():
    classes = errors.ServiceError.__subclasses__()
    texts = {text for error in classes for text in (error.message, error.hint)}

    assert [text for text in texts if text != text.strip() or not text.endswith(".")] == []
    assert len(errors.CODES) == len(set(classes))
    assert all(errors.hint_of(code) for code in errors.CODES)
    assert errors.hint_of("a_code_of_the_future") is None
