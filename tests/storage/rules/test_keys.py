"""Keys, their masks, hashes and rotation; click ids; what a customer key looks like; Stripe's signature."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from stripe import WebhookSignature

from storage.rules import key_format, keys, payment
from storage.rules.key_format import Difference, KeyFormat, LeadKeys
from storage.rules.keys import Rotation, rotation_state

NOW = datetime(2026, 5, 20, tzinfo=UTC)


def test_keys_and_click_ids_are_never_the_same_twice_and_a_mask_hides_a_key():
    made = {keys.generate(keys.PROGRAM_PREFIX) for _ in range(100)}
    random_parts = {keys.click_id(1, NOW)[12:32] for _ in range(100)}

    assert len(made) == len(random_parts) == 100
    assert all(key.startswith("aff_") and len(key) > 40 for key in made)
    assert keys.mask("aff_", "x9Qz") == "aff_••••x9Qz"


@given(st.integers(1, 10**12))
def test_a_program_key_and_a_click_id_name_their_program_and_other_secrets_none(program_id: int):
    assert keys.key_program(keys.generate_program_key(program_id)) == program_id
    assert keys.click_program(keys.click_id(program_id, NOW)) == program_id
    for secret in ("aff_12", "agt_12_secret", "aff_x_secret", "aff_\u00b2_s", f"aff_{'1' * 16}_s"):
        assert keys.key_program(secret) is None, secret


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_click_ids_sort_in_the_order_of_time(first: int, later: int):
    earlier = keys.click_id(7, NOW + timedelta(milliseconds=first))

    assert earlier < keys.click_id(7, NOW + timedelta(milliseconds=first + later))


def test_a_flagged_key_works_until_its_deadline_and_not_at_it():
    soon, before = NOW + timedelta(milliseconds=1), NOW - timedelta(days=1)
    expected = {None: Rotation.ACTIVE, soon: Rotation.FLAGGED, NOW: Rotation.EXPIRED, before: Rotation.EXPIRED}

    assert {rotate_by: rotation_state(rotate_by, NOW) for rotate_by in expected} == expected


UUID = "3f2b8c1e-7a44-4c0e-9d55-0a1b2c3d4e5f"


def test_a_key_has_a_format():
    expected = {
        UUID: KeyFormat.UUID,
        UUID.replace("-", "").upper(): KeyFormat.UUID,
        "4711": KeyFormat.INTEGER,
        "anna@acme.example": KeyFormat.EMAIL,
        "cus_NffrFeUfNV2Hib": KeyFormat.PROCESSOR_ID,
        "user-17": KeyFormat.PREFIXED,
        "annalindqvist": KeyFormat.OTHER,
    }

    assert {key: key_format.format_of(key) for key in expected} == expected


def mismatch(lead_keys: list[str], sale_key: str) -> tuple[Difference, str | None] | None:
    found = LeadKeys(lead_keys).mismatch(sale_key)
    return found and (found.difference, found.meant)


def test_the_lead_key_that_a_mismatched_key_stands_for_is_found():
    for lead_key, sale_key in (("user-17", "17"), ("17", "user_17"), (UUID, UUID.replace("-", ""))):
        assert mismatch([lead_key], sale_key) == (Difference.PREFIX, lead_key)
    assert mismatch(["user-a"], " USER-A ") == (Difference.LETTER_CASE, "user-a")
    assert mismatch(["user_a_9"], "user-a-9") == (Difference.LETTER_CASE, "user_a_9")


def test_another_systems_id_is_a_difference_of_format_and_a_customer_without_a_partner_is_none():
    for sale_key in ("cus_NffrFeUfNV2Hib", "anna@acme.example", UUID):
        assert mismatch(["user-1", "user-2"], sale_key) == (Difference.SHAPE, None), sale_key
        assert mismatch([], sale_key) is None
    sold = ((["user-1"], "user-2"), (["1", "2"], "3"), (["user-17", "18"], "17"), (["anna"], "bob-7"))
    assert [mismatch(*each) for each in sold] == [None] * 4


SIGNED_AT, SECRET, CONTENT = 1_790_000_000, "whsec_of_acme", b'{"id": "evt_1"}'
GOOD = WebhookSignature.generate_signature_header(CONTENT.decode(), SECRET, SIGNED_AT)


def is_signed(header: str, *, content: bytes = CONTENT, secret: str = SECRET, now: float = SIGNED_AT) -> bool:
    return payment.is_signed(content, header, secret, now=now)


@given(content=st.text(), secret=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_what_stripe_s_library_signs_is_accepted(content: str, secret: str):
    header = WebhookSignature.generate_signature_header(content, secret, SIGNED_AT)

    assert is_signed(header, content=content.encode(), secret=secret)


def test_one_good_signature_among_several_is_enough_for_five_minutes():
    stamp, _, signature = GOOD.partition(",")

    for header in (GOOD, f"{stamp},v1={'0' * 64},{signature},v0=old"):
        assert [after for after in (-301, -300, 300, 301) if is_signed(header, now=SIGNED_AT + after)] == [-300, 300]


def test_any_other_header_changed_bytes_and_other_secrets_are_rejected():
    wrong = ("", GOOD.partition(",")[0], GOOD.replace("v1=", "v0="), GOOD[:-1], GOOD.replace("t=1", "t=2"), "x" + GOOD)
    assert [header for header in wrong if is_signed(header)] == []
    assert not is_signed(GOOD, content=CONTENT + b" ")
    assert not is_signed(GOOD, secret="whsec_of_another")
    assert not is_signed(WebhookSignature.generate_signature_header(CONTENT.decode(), " ", SIGNED_AT), secret=" ")
