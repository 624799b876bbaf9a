"""The review page: it shows why a commission is held, and an owner decides there."""

import httpx

from storage.management import flags
from storage.rules.fraud.flag import Finding, FlagKind
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.tracking_api.dashboard.reading import csrf
from tests.world import NOW

HOSTILE = "<script>alert(1)</script>"


async def test_the_page_shows_the_reason_and_hostile_evidence_as_text_and_an_owner_confirms_there(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    acme, review = dashboard.acme, f"{dashboard.pages}/review"
    found = Finding(FlagKind.BRAND_BIDDING, "partner:1", acme.anna, NOW, {"referrer_hosts": [HOSTILE]})
    await acme.store.write(flags.raise_flags, acme.program_id, [found], at=NOW)
    (flag,) = (await acme.store.read(flags.list_flags, acme.program_id)).data
    page = (await olga.get(review)).text
    partners = (await olga.get(f"{dashboard.pages}/partners")).text
    decision = {"state": "confirmed", "reason": "Looked.", "csrf": await csrf(olga)}

    wrong, asked, confirmed = [
        await olga.post(f"{review}/{flag.id}", data=decision | changed)
        for changed in ({"state": "open"}, {}, {"confirmed": "yes"})
    ]

    assert "Visitors came from search ads" in page
    assert HOSTILE not in page
    assert "To review: 1" in partners
    assert [answer.status_code for answer in (wrong, asked, confirmed)] == [400, 200, 303]
    decided = await acme.store.read(flags.get_flag, acme.program_id, flag.id)
    assert (decided.state, decided.decision_reason) == ("confirmed", "Looked.")
