"""Who may open each page and send each form, walked from the route table: owners, members, others, other sites."""

import re
from typing import Any

import pytest
from starlette.routing import Route

from storage.access import sessions, workspaces
from storage.management import commissions
from tests import stripe_events as stripe
from tests.storage.payments import paying
from tests.tracking_api.dashboard.conftest import FOREIGN, HASH, MAX, OLGA, Dashboard
from tests.tracking_api.dashboard.reading import csrf
from tests.world import NOW
from tracking_api.dashboard.pages.routes import ROUTES

OPEN = {"/set-up", "/sign-in", "/forgotten-password", "/reset-password/{token}", "/join/{token}"}
PROGRAM = "/programs/{program_id}"
HTML = {"Accept": "text/html"}


@pytest.fixture
async def ids(dashboard: Dashboard) -> dict[str, Any]:
    """One row of each kind, by the parameter that names it in a path; Gina is the owner of another workspace."""
    acme = dashboard.acme
    await acme.customer()
    await acme.sale()
    await paying.connect(acme)
    await paying.take(acme, stripe.charge_refunded(total=500, intent="pi_old"))
    [sold] = (await acme.store.read(commissions.list_commissions, acme.program_id)).data
    globex = {"owner_email": "gina@globex.example", "password_hash": HASH, "at": NOW}
    gina = await acme.store.write(workspaces.create, "Globex", **globex)
    dashboard.tokens["gina"] = (await acme.store.write(sessions.start, gina.user_id, at=NOW)).token
    event_id = (await dashboard.get("./payment-events")).json()["data"][0]["id"]
    flag_id = await acme.flag(sold.customer_id)
    ids = {"commission_id": sold.id, "customer_id": sold.customer_id, "event_id": event_id, "flag_id": flag_id}
    return ids | {"program_id": acme.program_id, "partner_id": acme.anna, "workspace_id": 1, "assistant_id": 1}


def paths(method: str) -> list[str]:
    """Return the pages, or the forms, that are not open to everybody."""
    of_pages = [route for route in ROUTES if isinstance(route, Route) and "static" not in route.path]
    return [route.path for route in of_pages if method in (route.methods or ()) and route.path not in OPEN]


async def test_a_program_s_pages_are_for_its_members_and_show_them_no_form(dashboard: Dashboard, ids: dict[str, Any]):
    of_program = [path for path in paths("GET") if path.startswith(PROGRAM)]
    assert len(of_program) > 25

    async with dashboard.browser(MAX) as max_, dashboard.browser("gina") as gina, dashboard.browser(None) as nobody:
        for path in (each.format(**ids) for each in of_program):
            page = await max_.get(f"{path}?by=device" if path.endswith("explore.csv") else path)
            assert page.status_code == 200, path
            forms = re.findall(r'<form[^>]* method="post".*?</form>', page.text, re.DOTALL)
            buttons = [each for each in forms if "<button" in each and 'action="/sign-out"' not in each]
            assert buttons == [], path
            assert (await gina.get(path)).status_code == 403, path
            assert (await nobody.get(path)).headers["location"].startswith("/sign-in?next="), path


async def test_a_form_is_taken_from_an_owner_on_our_own_page_alone(dashboard: Dashboard, ids: dict[str, Any]):
    before = (await dashboard.get("./audit-log")).text
    of_program = [path for path in paths("POST") if path.startswith(PROGRAM)]
    assert len(of_program) > 15

    for path in (each.format(**ids) for each in of_program):
        sent: dict[str, Any] = {"files": {"file": b"x"}} if path.endswith(("/logo", "/rates")) else {}
        for who, headers, status, said in (
            (MAX, {}, 403, "Only an owner of the workspace may do this."),
            ("gina", {}, 403, "You may not open this page"),
            (OLGA, FOREIGN, 303, ""),
        ):
            async with dashboard.browser(who) as browser:
                form = {"csrf": await csrf(browser), "confirmed": "yes"}
                answer = await browser.post(path, data=form, headers=HTML | headers, **sent)
            assert (answer.status_code, said in answer.text) == (status, True), (path, who)

    assert (await dashboard.get("./audit-log")).text == before


async def test_no_form_is_taken_without_the_token_of_its_session(dashboard: Dashboard, ids: dict[str, Any]):
    others = {"/device/{user_code}": "BCDF-GHJK", "/connect/{sealed}": "sealed"}
    before = (await dashboard.get("./audit-log")).text
    async with dashboard.browser() as olga:
        for path in paths("POST"):
            sent: dict[str, Any] = {"files": {"file": b"x"}} if path.endswith(("/logo", "/rates")) else {}
            for form in ({"confirmed": "yes"}, {"confirmed": "yes", "csrf": "guessed"}):
                where = path.format(**ids, user_code=others.get(path), sealed=others.get(path))
                answer = await olga.post(where, data=form, headers=HTML, **sent)
                assert answer.status_code == 403, path

    assert (await dashboard.get("./audit-log")).text == before
