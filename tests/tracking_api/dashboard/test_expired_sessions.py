"""A session that ends takes no work with it: the list comes back as it was, the form is kept until it is sent."""

import re
from datetime import timedelta
from pathlib import Path

import httpx

from storage.access import sessions
from storage.rules import keys
from tests.tracking_api.dashboard.conftest import FOREIGN, OLGA, PASSWORD, Dashboard
from tests.tracking_api.dashboard.reading import csrf, hidden
from tracking_api.dashboard.pages.held_forms import SECRETS

CREDENTIALS = {"email": OLGA, "password": PASSWORD}
TEMPLATES = Path(__file__).parents[3] / "tracking_api" / "dashboard" / "templates"


async def end(dashboard: Dashboard) -> None:
    await dashboard.acme.store.write(sessions.end, keys.digest(dashboard.tokens[OLGA]))


def held_by(page: httpx.Response) -> dict[str, str]:
    """Return the hidden fields of the page's own form."""
    return hidden(page.text.partition('<form method="post"')[2].partition("</form>")[0])


async def test_a_form_of_an_ended_session_is_sent_after_signing_in(dashboard: Dashboard, olga: httpx.AsyncClient):
    place = f"{dashboard.pages}/partners"
    partner = {"name": 'Eve <b>"&', "code": "eve", "csrf": await csrf(olga)}
    await end(dashboard)

    asked = await olga.post(place, data=partner, headers={"Referer": f"http://svc.test{place}?period=7d"})
    wrong = await olga.post("/sign-in", data={**held_by(asked), **CREDENTIALS, "password": "wrong"})
    offered = await olga.post("/sign-in", data={**held_by(wrong), **CREDENTIALS})
    sent = await olga.post(place, data=held_by(offered))
    listed = (await olga.get(place)).text

    assert (asked.status_code, "What you entered is kept" in asked.text) == (403, True)
    assert (wrong.status_code, offered.status_code, sent.status_code) == (401, 200, 303)
    assert f'<a class="button" href="{place}?period=7d">Do not send</a>' in offered.text
    assert "Eve &lt;b&gt;" in listed


async def test_a_form_is_held_for_an_hour_and_only_as_this_server_sealed_it(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    place = f"{dashboard.pages}/partners"
    await end(dashboard)
    held = held_by(await olga.post(place, data={"name": "Eve", "code": "eve"}))["held"]

    forged = await olga.post("/sign-in", data={"held": held[:-4] + "AAAA", **CREDENTIALS})
    foreign = await olga.post("/sign-in", data={"held": held, **CREDENTIALS}, headers=FOREIGN)
    dashboard.at += timedelta(hours=1)
    late = await olga.post("/sign-in", data={"held": held, "next": place, **CREDENTIALS})

    assert (forged.status_code, forged.headers["location"]) == (303, "/programs")
    assert "eve" not in foreign.text
    assert (late.status_code, late.headers["location"]) == (303, place)


async def test_a_form_of_another_site_or_with_a_secret_is_not_held(dashboard: Dashboard, olga: httpx.AsyncClient):
    place = f"{dashboard.pages}/partners"
    await end(dashboard)

    foreign = await olga.post(place, data={"name": "Eve"}, headers=FOREIGN)
    secret = await olga.post("/account", data={"current_password": PASSWORD, "action": "enrol"})
    large = await olga.post(place, data={"name": "x" * 30_000})

    signed_out = await olga.post("/sign-out", data={"csrf": "of the ended session"})

    for answer in (foreign, secret, large, signed_out):
        assert (answer.status_code, answer.headers["location"].startswith("/sign-in?next=")) == (303, True)
        assert PASSWORD not in answer.text


async def test_every_field_that_hides_what_is_typed_counts_as_a_secret():
    fields = [
        re.search(r'(?:field\(|name=)"(\w+)"', line)
        for template in TEMPLATES.glob("*.html")
        for line in template.read_text(encoding="utf-8").splitlines()
        if 'type="password"' in line or ('autocomplete="one-time-code"' in line and "totp" in line)
    ]

    assert {found[1] for found in fields if found} == SECRETS


async def test_a_form_of_an_earlier_session_is_offered_again(dashboard: Dashboard, olga: httpx.AsyncClient):
    place = f"{dashboard.pages}/partners"

    stale = await olga.post(place, data={"name": "Eve", "code": "eve", "csrf": "of an earlier session"})
    before = (await olga.get(place)).text
    sent = await olga.post(place, data=held_by(stale))

    assert (stale.status_code, sent.status_code) == (403, 303)
    assert ("aff=eve" in before, "aff=eve" in (await olga.get(place)).text) == (False, True)


async def test_a_list_comes_back_as_it_was(dashboard: Dashboard, olga: httpx.AsyncClient):
    place = f"{dashboard.pages}/commissions?status=all&partner_id=1"
    await end(dashboard)

    asked = await olga.get(place)
    part = await olga.get(place, headers={"HX-Request": "true", "Referer": f"http://svc.test{place}"})
    form = await olga.get(asked.headers["location"])
    entered = await olga.post("/sign-in", data={**held_by(form), **CREDENTIALS})

    assert (entered.status_code, entered.headers["location"]) == (303, place)
    assert part.headers["hx-redirect"] == asked.headers["location"]
