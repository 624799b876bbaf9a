"""Partners sign in by a link that works once, in the browser that asked for it, and never into anything else."""

from datetime import timedelta

import httpx
import pytest

from storage.management import partners
from tests import world
from tests.tracking_api.dashboard.conftest import FOREIGN
from tests.tracking_api.dashboard.reading import csrf, form_of, send, words
from tests.tracking_api.portal.conftest import ANNA, Portal

SIGN_IN, LINK, HOME = "/portal/sign-in", "/portal/link", "/portal"


async def ask(browser: httpx.AsyncClient, email: str = ANNA) -> httpx.Response:
    return await browser.post(SIGN_IN, data={"email": email})


async def enter(browser: httpx.AsyncClient, token: str, **form: str) -> httpx.Response:
    """Open a link, as a browser with JavaScript does, and press its button."""
    opened = await browser.post(LINK, data={"token": token})
    assert opened.status_code == 303
    page = await browser.get(LINK)
    if 'name="program_id"' not in page.text:
        return page
    _, fields = form_of(page.text, "Sign in")
    return await browser.post(LINK, data=fields | form)


async def test_a_partner_s_session_opens_nothing_of_a_member_s(served: Portal):
    token = await served.session()
    async with served.browser(token) as swapped, served.visitor(svc_portal=token) as anna:
        pages = [await swapped.get("/programs"), await anna.get("/programs"), await anna.get(served.program)]

    assert [each.status_code for each in pages] == [303, 303, 403]
    assert (await served.get("/api/auth/me", token)).status_code == 403


async def test_a_mailed_link_signs_in_once_in_the_browser_that_asked(served: Portal):
    async with served.visitor() as phone, served.visitor() as other:
        asked = await ask(phone, "Anna@Partners.example")
        token = served.mailed()
        elsewhere = await enter(other, token)
        entered = await enter(phone, token)
        home = await phone.get(HOME)
        again = await enter(phone, token)

    assert "is on its way" in words(asked.text)
    assert (elsewhere.status_code, entered.status_code, entered.headers["location"]) == (404, 303, HOME)
    assert "Balance" in words(home.text)
    assert again.status_code == 404
    cookie = next(each for each in entered.headers.get_list("set-cookie") if each.startswith("svc_portal="))
    assert {"HttpOnly", "Path=/portal", "SameSite=lax"} <= set(cookie.split("; "))


async def test_the_answer_is_one_whether_a_partner_has_the_address_or_not_and_asking_is_limited(served: Portal):
    async with served.visitor() as phone:
        known, unknown = await ask(phone), await ask(phone, "nobody@partners.example")

        for _ in range(12):
            await ask(phone)

    assert known.text.replace(ANNA, "") == unknown.text.replace("nobody@partners.example", "")
    assert known.status_code == 200
    assert {each["to"] for each in served.mailbox.messages} == {ANNA}
    assert len(served.mailbox.messages) <= 10


@pytest.mark.parametrize("ends", ["time", "address", "revoked"])
async def test_a_link_and_a_session_end_with_their_time_and_the_address_and_when_a_manager_says_so(
    served: Portal, ends: str
):
    acme = served.acme
    async with served.visitor() as phone, served.visitor(svc_portal=await served.session()) as signed_in:
        await ask(phone)
        if ends == "time":
            served.at += timedelta(minutes=15)
        elif ends == "address":
            await acme.do(partners.change, acme.anna, {"email": "new@partners.example"})
        else:
            place = f"{served.pages}/partners/{acme.anna}"
            await send(served.olga, place, "Sign out of the portal everywhere")
        late = await enter(phone, served.mailed())
        served.at += timedelta(days=3 if ends == "time" else 0)
        ended = await signed_in.get(HOME)

    assert late.status_code == 404
    assert (ended.status_code, ended.headers["location"]) == (303, SIGN_IN)


async def test_a_partner_of_two_programs_chooses_and_a_manager_s_link_is_for_one(served: Portal):
    globex = await world.globex(served.acme.store, name="Globex partners")
    await globex.do(partners.change, globex.ben, {"email": ANNA})
    async with served.visitor() as phone:
        await ask(phone)
        entered = await enter(phone, served.mailed(), program_id=str(globex.program_id))
        home = await phone.get(HOME)

    assert entered.status_code == 303
    assert "Globex partners" in home.text
    assert "/?aff=ben" in home.text


async def test_a_manager_invites_by_a_link_that_is_e_mailed_and_copied_and_in_bulk(served: Portal):
    partner, listed = f"{served.pages}/partners/{served.acme.anna}", f"{served.pages}/partners"
    invited = await send(served.olga, partner, "Invite to the portal")
    token = served.mailed()
    form = {"csrf": await csrf(served.olga), "id": [served.acme.anna, served.acme.ben], "status": "invite"}
    together = await served.olga.post(f"{listed}/selected", data=form)
    said = words((await served.olga.get(listed)).text)
    async with served.visitor() as phone:
        replaced, entered = await enter(phone, token), await enter(phone, served.mailed())

    assert token in invited.text
    assert together.status_code == 303
    assert "Invited to the portal by e-mail: 1." in said
    assert (replaced.status_code, entered.status_code) == (404, 303)
    assert (await served.get("./audit-log")).text.count("portal.invite") == 2 + 1


async def test_a_partner_lists_and_ends_their_sessions_and_signs_out(served: Portal):
    await served.session()
    async with await served.anna() as anna:
        account = await anna.get("/portal/account")
        ended = await send(anna, "/portal/account", "End A phone")
        one = await anna.get("/portal/account")
        foreign = await anna.post("/portal/account", data={"action": "end", "csrf": "guessed"}, headers=FOREIGN)
        left = await send(anna, "/portal/account", "Sign out")
        after = await anna.get(HOME)

    assert account.text.count("A phone") > one.text.count("A phone")
    assert ended.status_code == left.status_code == foreign.status_code == 303
    assert (foreign.headers["location"], after.headers["location"]) == (SIGN_IN, SIGN_IN)


async def test_who_has_left_a_program_still_reads_and_the_portal_says_so(served: Portal):
    await served.acme.do(partners.change, served.acme.anna, {"status": "inactive"})
    async with await served.anna() as anna:
        home = await anna.get(HOME)

    assert "Your links do not count any more" in words(home.text).replace("your links", "Your links")
