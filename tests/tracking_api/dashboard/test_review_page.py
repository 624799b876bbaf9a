"""The review page: it shows why a commission is held, and an owner decides there."""

from typing import Any

import httpx

from storage.access import sessions
from storage.management import flags
from storage.rules import keys
from storage.rules.fraud.flag import Finding, FlagKind
from tests.tracking_api.conftest import Api
from tests.world import NOW

HOSTILE = "<script>alert(1)</script>"


async def flagged(api: Api) -> tuple[Any, dict[str, str], str]:
    """Flag Anna; return the flag, the owner's cookie and the CSRF token."""
    acme = api.acme
    found = Finding(FlagKind.BRAND_BIDDING, "partner:1", acme.anna, NOW, {"referrer_hosts": [HOSTILE]})
    await acme.store.write(flags.raise_flags, acme.program_id, [found], at=NOW)
    (flag,) = (await acme.store.read(flags.list_flags, acme.program_id)).data
    token = (await acme.store.write(sessions.start, acme.owner_id, at=NOW)).token
    headers = {"Cookie": f"svc_session={token}", "Sec-Fetch-Site": "same-origin"}
    return flag, headers, keys.digest(f"form of {token}")


def _browser(api: Api) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=api.transport, base_url="http://svc.test")


async def test_the_page_shows_the_reason_and_hostile_evidence_as_text(api: Api):
    _, cookie, _ = await flagged(api)

    page = await _browser(api).get(f"/programs/{api.acme.program_id}/review", headers=cookie)
    partners = await _browser(api).get(f"/programs/{api.acme.program_id}/partners", headers=cookie)

    assert page.status_code == 200
    assert "Visitors came from search ads" in page.text
    assert HOSTILE not in page.text
    assert "To review: 1" in partners.text


async def test_an_owner_confirms_there_and_not_without_the_form_s_token(api: Api):
    flag, cookie, token = await flagged(api)
    path = f"/programs/{api.acme.program_id}/review/{flag.id}"

    forged = await _browser(api).post(path, headers=cookie, data={"state": "confirmed"})
    wrong = await _browser(api).post(path, headers=cookie, data={"state": "open", "csrf": token})
    decision = {"state": "confirmed", "reason": "Looked.", "csrf": token}
    asked = await _browser(api).post(path, headers=cookie, data=decision)
    confirmed = await _browser(api).post(path, headers=cookie, data=decision | {"confirmed": "yes"})

    statuses = [answer.status_code for answer in (forged, wrong, asked, confirmed)]
    assert statuses == [403, 400, 200, 303]
    decided = await api.acme.store.read(flags.get_flag, api.acme.program_id, flag.id)
    assert (decided.state, decided.decision_reason) == ("confirmed", "Looked.")
