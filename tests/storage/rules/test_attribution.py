"""Partner codes, windows, which click a visitor keeps, and the specification's tables of leads and customers."""

from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.engine.sealing import Sealer
from storage.rules import attribution, keys, settlement
from storage.rules.attribution import AttributionModel, FollowedLink
from storage.rules.errors import AffMissing, InvalidAffiliateUrl, InvalidHandover, StatusTransitionRefused
from storage.rules.settings import ProgramSettings
from storage.rules.settlement import CustomerStatus, LeadAuthPolicy, Settlement
from storage.tracking import handovers
from tests.tables import table

NOW, MINUTE = datetime(2026, 5, 20, tzinfo=UTC), timedelta(minutes=1)


def test_a_url_that_is_not_absolute_http_or_has_no_code_is_rejected():
    for url in ("a.example/?aff=anna", "ftp://a.example/?aff=anna", "https://?aff=anna", "http://[::"):
        with pytest.raises(InvalidAffiliateUrl):
            attribution.link_code(url)
    for query in ("", "?aff=", "?AFF=anna", "?aff=%00"):
        with pytest.raises(AffMissing):
            attribution.link_code(f"https://a.example/{query}")


def test_the_code_is_read_from_the_link_also_from_another_tool_s():
    expected = {
        "b=1&aff=%61nna#top": ("anna", "aff"),
        "ref=blog&via=anna": ("anna", "via"),
        "via=ben&aff=anna": ("anna", "aff"),
        "aff=&fpr=anna": ("anna", "fpr"),
        "ref=anna": ("anna", "ref"),
    }

    assert {query: attribution.link_code(f"http://a.example/?{query}") for query in expected} == expected


@given(st.text(max_size=100))
def test_no_text_makes_the_reader_fail_in_another_way(text: str):
    try:
        assert attribution.link_code(text)
    except (AffMissing, InvalidAffiliateUrl):
        return


def test_the_window_includes_its_last_second_and_the_model_decides_between_two_partners():
    assert attribution.is_within(NOW, NOW + timedelta(days=60), 60)
    assert not attribution.is_within(NOW, NOW + timedelta(days=60, milliseconds=1), 60)
    first, other, again = (FollowedLink("", partner_id, NOW + n * MINUTE) for n, partner_id in enumerate([1, 2, 1]))
    for model, carried in ((AttributionModel.LAST_CLICK, other), (AttributionModel.FIRST_CLICK, first)):
        program = ProgramSettings("", "", attribution_model=model, cookie_window_days=1)
        late = again._replace(at=NOW + timedelta(days=2))
        carries = [attribution.carried([first, each], program) for each in (other, again, late)]
        assert carries == [carried, first, late]


def test_of_two_clicks_the_later_stays_on_arrival_unless_the_first_one_counts():
    for model, is_first in ((AttributionModel.LAST_CLICK, False), (AttributionModel.FIRST_CLICK, True)):
        stays = partial(attribution.stays_on_arrival, model)

        assert all(stays(existing_at=NOW + after, arriving_at=NOW) for after in (MINUTE, 0 * MINUTE))
        assert stays(existing_at=NOW, arriving_at=NOW + MINUTE) is is_first
        assert not stays(existing_at=None, arriving_at=NOW)


def test_a_domain_of_the_developers_machine_has_http_links():
    for domain in ("localhost:3000", "shop.localhost", "127.0.0.1:8000"):
        assert attribution.site_url(domain) == f"http://{domain}"
    assert attribution.site_url("localhost.example") == "https://localhost.example"


def test_a_lead_changes_as_the_table_says_and_a_converted_customer_never_becomes_one():
    for before, with_key, policy, after in table("storage/rules/leads.toml")["moves"]:
        about = {"with_key": with_key, "policy": LeadAuthPolicy(policy)}
        assert settlement.move(Settlement(before), CustomerStatus.LEAD, **about) == after, (before, about)
    for before, with_key, policy in product(Settlement, [True, False], LeadAuthPolicy):
        with pytest.raises(StatusTransitionRefused):
            settlement.move(before, CustomerStatus.CONVERSION, with_key=with_key, policy=policy)


def test_a_hand_over_token_opens_in_its_own_program_alone():
    sealer, click_id = Sealer("a secret key"), keys.click_id(7, NOW)
    token = handovers.issue(sealer, 7, click_id, NOW)

    assert handovers.open_token(sealer, 7, token, NOW).click_id == click_id
    with pytest.raises(InvalidHandover):
        handovers.open_token(sealer, 8, token, NOW)
