"""Every page of the portal, from its route table, with every kind of caller; and what no partner ever reads."""

from typing import Any

import httpx
import pytest
from starlette.routing import Route

from storage.access import portal, sessions
from storage.access.workspaces import Role
from storage.lists.commissions import COMMISSIONS
from storage.lists.declaration import List, ListQuery, ListScope
from storage.lists.find import find
from storage.lists.flags import FLAGS
from storage.management import partners
from storage.rules.contact import protect
from storage.rules.errors import NotFound
from tests import world
from tests.tracking_api.dashboard.conftest import OURS
from tests.tracking_api.portal.conftest import Portal, served
from tests.world import HELD_SINCE, NOW
from tracking_api.portal.routes import PAGES

__all__ = ["served"]
OPEN = {"/portal/sign-in", "/portal/link", "/portal/programs/{program_id}/apply", "/portal/notices/{sealed}"}
SECRETS = (
    "key-of-a-buyer",
    "buyer@shop.example",
    "b***@shop.example",
    "order-of-anna",
    "a note of ours",
    "shared_click",
)
ANNAS = ("$24.68", "aff=anna")  # what she earned, and her link


def paths(method: str) -> list[str]:
    """Return the pages, or the forms, that need a session."""
    routes = [each for each in PAGES if isinstance(each, Route) and method in (each.methods or ())]
    return [each.path for each in routes if each.path not in OPEN]


@pytest.fixture
async def sold(served: Portal) -> Portal:
    """Anna brought a customer who bought for 123.40 and is flagged; Globex has partners of its own."""
    acme = served.acme
    await acme.do(partners.change, acme.anna, {"notes": "a note of ours"})
    click_id = await acme.visitor(at=HELD_SINCE)
    await acme.lead(click_id, "key-of-a-buyer", contact=protect("buyer@shop.example"), at=HELD_SINCE)
    await acme.sale("order-of-anna", 12_340, customer_key="key-of-a-buyer", at=HELD_SINCE)
    [earned] = (await acme.listed(COMMISSIONS)).data
    await acme.flag(earned.customer_id)
    return served


def ids(acme: Any) -> dict[str, Any]:
    return {"program_id": acme.program_id, "number": 1}


async def callers(served: Portal) -> dict[str, httpx.AsyncClient]:
    """Return who is no partner: each credential where it belongs, and where the portal looks for its own."""
    acme = served.acme
    member: dict[str, str] = {
        str(role): await acme.sign_in(await acme.join(f"{role}@x.example", role)) for role in Role
    }
    secrets = {**member, "agent key": (await acme.issue()).secret, "program key": acme.key}
    ended = await served.session()
    await acme.store.write(sessions.end, portal.session_by(ended))
    found = {"nobody": served.visitor(), "ended": served.visitor(svc_portal=ended)}
    forged = f"por_{acme.program_id}_{'a' * 43}"
    found |= {
        "invented": served.visitor(svc_portal=forged),
        "malformed": served.visitor(svc_portal="por_99999999999999999999_x"),
    }
    for name, secret in secrets.items():
        found[name] = served.visitor(svc_portal=secret, svc_session=secret)
        found[f"{name} as a header"] = served.browser(None, **OURS, Authorization=f"Bearer {secret}")
    return found


async def test_no_page_of_the_portal_opens_for_anyone_but_a_partner(sold: Portal) -> None:
    wrong = []
    for name, browser in (await callers(sold)).items():
        async with browser:
            for method in ("GET", "POST"):
                for path in (each.format(**ids(sold.acme)) for each in paths(method)):
                    sent: dict[str, Any] = {"data": {"csrf": "guessed"}} if method == "POST" else {}
                    answer = await browser.request(method, path, **sent)
                    if (answer.status_code, answer.headers.get("location")) != (303, "/portal/sign-in"):
                        wrong.append(f"{method} {path} as {name}: {answer.status_code}")

    assert wrong == []
    assert len(paths("GET")) >= 5


async def test_a_partner_reads_nothing_of_another_and_none_what_is_the_program_s(sold: Portal) -> None:
    acme = sold.acme
    globex = await world.globex(acme.store, name="Globex partners")
    sessions = {"Anna": await sold.session(), "Ben": await sold.session(partner_id=acme.ben)}
    sessions["Globex"] = await sold.session(globex, globex.ben)
    shown = {}
    for name, token in sessions.items():
        async with sold.visitor(svc_portal=token) as browser:
            pages = [await browser.get(path.format(**ids(acme))) for path in paths("GET")]
            assert {each.status_code for each in pages} <= {200, 404}, name
            shown[name] = " ".join(each.text for each in pages)

    assert all(secret not in text for secret in (*SECRETS, "$123.40") for text in shown.values())
    assert all(each in shown["Anna"] for each in ANNAS)
    assert not [(name, each) for name in ("Ben", "Globex") for each in ANNAS if each in shown[name]]


async def test_a_partner_sees_the_amounts_of_sales_where_the_program_says_so(sold: Portal) -> None:
    await sold.acme.change(partners_see_amounts=True)
    async with await sold.anna() as anna:
        home = (await anna.get("/portal")).text

    assert "$123.40" in home
    assert all(secret not in home for secret in SECRETS)


async def test_a_partner_s_form_without_its_token_changes_nothing(sold: Portal) -> None:
    async with await sold.anna() as anna:
        for path in paths("POST"):
            answer = await anna.post(path.format(**ids(sold.acme)), data={"csrf": "guessed", "action": "end"})
            assert answer.headers["location"] == "/portal/sign-in", path
        assert (await anna.get("/portal")).status_code == 200


async def test_a_list_that_does_not_say_what_partners_see_shows_them_nothing(sold: Portal) -> None:
    acme = sold.acme
    scope = ListScope(acme.program_id, NOW, partner_id=acme.anna)

    async def read(wanted: List[Any]) -> Any:
        return (await acme.store.read(find, wanted, scope, ListQuery())).data

    [earned] = await read(COMMISSIONS)
    assert (earned.customer_key, earned.transaction_id, earned.partner_name, earned.flags) == (None, None, None, None)
    with pytest.raises(NotFound):
        await read(FLAGS)


async def test_a_link_of_one_program_opens_no_other(sold: Portal) -> None:
    globex = await world.globex(sold.acme.store, name="Globex partners")
    token, _ = await globex.do(portal.invite, globex.anna)
    async with sold.visitor() as phone:
        await phone.post("/portal/link", data={"token": token})
        taken = await phone.post("/portal/link", data={"program_id": str(sold.acme.program_id)})

    assert (taken.status_code, "Choose a program" in taken.text) == (400, True)
