"""A workspace's members: changed by owners, invited by a link or an e-mail, and sent a new password."""

import asyncio
import re

import httpx

from storage.access import members, workspaces
from tests import smtp
from tests.tracking_api.dashboard.conftest import FOREIGN, MAX, OLGA, PASSWORD, Dashboard
from tracking_api.dashboard import mail

OWNER = "owner@acme.example"
EVA = "eva@acme.example"
NEW = {"new_password": "several unrelated words", "repeated": "several unrelated words"}


async def id_of(dashboard: Dashboard, email: str) -> int:
    return (await dashboard.acme.store.read(members.get_member, dashboard.acme.workspace_id, email)).user_id


def path(dashboard: Dashboard, *parts: object) -> str:
    return "/".join(map(str, ("/api/workspaces", dashboard.acme.workspace_id, *parts)))


async def forget(dashboard: Dashboard, email: str, **headers: str) -> httpx.Response:
    return await dashboard.browser(None).post("/forgotten-password", data={"email": email}, headers=headers)


async def test_an_owner_suspends_reactivates_promotes_and_removes_a_member_and_hands_over(dashboard: Dashboard):
    olga, max_id = await id_of(dashboard, OLGA), await id_of(dashboard, MAX)
    one = path(dashboard, "members", max_id)
    await dashboard.call("DELETE", path(dashboard, "members", await id_of(dashboard, OWNER)))
    assert len((await dashboard.get(path(dashboard, "members"), MAX)).json()["data"]) == 2
    last = await dashboard.patch(path(dashboard, "members", olga), role="member")

    suspended = await dashboard.patch(one, status="suspended")
    out = await dashboard.get("/api/auth/me", MAX)
    reactivated = await dashboard.patch(one, status="active", role="owner")
    nothing = await dashboard.patch(one)
    removed = await dashboard.call("DELETE", one)
    await dashboard.join(EVA, workspaces.Role.MEMBER)
    eva = await id_of(dashboard, EVA)
    handed, again = [await dashboard.post(path(dashboard, "owner"), user_id=user) for user in (eva, olga)]

    assert (suspended.json()["status"], out.status_code) == ("suspended", 403)
    assert reactivated.json() == nothing.json()
    assert (nothing.json()["role"], nothing.json()["status"]) == ("owner", "active")
    assert removed.json() == {"success": True}
    assert (last.status_code, last.json()["error"]["code"]) == (409, "last_owner")
    assert (handed.status_code, again.json()["error"]["code"]) == (200, "owner_required")
    listed = (await dashboard.get(path(dashboard, "members"))).json()["data"]
    assert {each["email"]: each["role"] for each in listed} == {OLGA: "member", EVA: "owner"}


async def test_an_owner_invites_and_the_link_creates_the_account(dashboard: Dashboard):
    made = await dashboard.post(path(dashboard, "invitations"), email=EVA, role="owner")
    listed = (await dashboard.get(path(dashboard, "invitations"))).json()["data"]
    page, token = made.json()["link"].removeprefix("http://svc.test").split("#")

    async with dashboard.browser(None) as eva:
        unopened = await eva.get(page)
        opened = await eva.post(page, data={"token": token})
        shown = await eva.get(opened.headers["location"])
        weak = await eva.post(page, data={"new_password": "password12", "repeated": "password12"})
        forged = await eva.post(page, data=NEW, headers=FOREIGN)
        joined = await eva.post(page, data=NEW)
        await eva.post(page, data={"token": token})
        again, without = await eva.get(page), await eva.get(page)

    assert (unopened.status_code, "data-link" in unopened.text) == (200, True)
    assert "HttpOnly; Max-Age=900; Path=/join; SameSite=strict" in opened.headers["set-cookie"]
    assert ("already used" in again.text, without.status_code) == (True, 200)
    assert (made.status_code, made.json()["emailed"]) == (201, False)
    assert [each["email"] for each in listed] == [EVA]
    assert "link" not in listed[0]
    assert "Join Acme" in shown.text
    assert (weak.status_code, "easy to guess" in weak.text) == (400, True)
    assert forged.headers["location"].startswith("/sign-in?")
    assert (joined.status_code, joined.headers["location"], again.status_code) == (303, "/programs", 404)
    assert (await dashboard.login(EVA, NEW["new_password"])).json()["workspaces"][0]["role"] == "owner"


async def test_an_account_that_had_left_joins_again_with_its_own_password(dashboard: Dashboard):
    await dashboard.call("DELETE", path(dashboard, "members", await id_of(dashboard, MAX)))
    made = (await dashboard.post(path(dashboard, "invitations"), email=MAX)).json()

    async with dashboard.browser(None) as max_:
        await max_.post("/join", data={"token": made["link"].split("#")[1]})
        shown = await max_.get("/join")
        answers = [await max_.post("/join", data={"new_password": each}) for each in (NEW["new_password"], PASSWORD)]

    assert ("enter its password" in shown.text, "Choose a password" in shown.text) == (True, False)
    assert [each.status_code for each in answers] == [400, 303]
    assert (await dashboard.login(MAX)).status_code == 200


async def test_an_invitation_is_withdrawn_and_none_is_made_to_no_address_or_after_a_hundred_on_a_day(
    dashboard: Dashboard,
):
    made = (await dashboard.post(path(dashboard, "invitations"), email=EVA)).json()
    one = f"{path(dashboard, 'invitations')}/{made['id']}"

    assert (await dashboard.call("DELETE", one)).json() == {"success": True}
    assert (await dashboard.call("DELETE", one)).status_code == 404
    for email in ("", "nobody", "a b@c.example", "a@b.example\r\nBcc: c@d.example"):
        rejected = await dashboard.post(path(dashboard, "invitations"), email=email)
        assert [each["field"] for each in rejected.json()["error"]["fields"]] == ["email"], email
    assert (await dashboard.get(path(dashboard, "invitations"))).json() == {"data": []}
    for _ in range(98):
        await dashboard.app.state.limits.hit("mail", str(await id_of(dashboard, OLGA)))
    answers = [await dashboard.post(path(dashboard, "invitations"), email=EVA) for _ in range(2)]
    assert [each.status_code for each in answers] == [201, 429]


async def test_an_invitation_goes_out_as_text_and_html_and_stands_while_the_smtp_server_is_down(
    dashboard: Dashboard, mailbox: smtp.Mailbox
):
    made = (await dashboard.post(path(dashboard, "invitations"), email=EVA)).json()
    dashboard.serve("smtp://127.0.0.1:9")
    not_sent = (await dashboard.post(path(dashboard, "invitations"), email="max2@acme.example")).json()

    [message] = mailbox.messages
    html = message.get_body(("html",))
    assert (made["emailed"], not_sent["emailed"]) == (True, False)
    assert not_sent["link"].startswith("http://svc.test/join#inv_")
    assert (message["to"], message["from"]) == (EVA, "Acme <acme@acme.example>")
    assert message["subject"] == f"{OLGA} invites you to Acme"
    assert f"{made['link']}." in mailbox.text()  # with what proves that it came by e-mail
    assert html is not None
    assert f'<a href="{made["link"]}.' in html.get_content()


async def test_a_forgotten_password_is_set_by_the_link_in_an_e_mail_of_which_an_account_gets_few(
    dashboard: Dashboard, mailbox: smtp.Mailbox
):
    forged = await forget(dashboard, MAX, **FOREIGN)
    known, unknown = await forget(dashboard, MAX), await forget(dashboard, "nobody@acme.example")
    found = re.search(r"http://svc\.test/reset-password#(\S+)", mailbox.text())
    assert found
    async with dashboard.browser(None) as visitor:
        page, token = "/reset-password", {"token": found[1]}
        rejected = [
            await visitor.post(page, data=NEW | token | changed, headers=headers)
            for changed, headers in (
                ({}, FOREIGN),
                ({"repeated": "another"}, {}),
                (dict.fromkeys(NEW, "password12"), {}),
            )
        ]
        await visitor.post(page, data=token)
        shown = await visitor.get(page)
        done = [(await visitor.post(page, data=NEW | token)).status_code for _ in range(2)]

    assert ([each.status_code for each in rejected], MAX in shown.text, done) == ([303, 400, 400], True, [303, 404])
    assert (await dashboard.get("/api/auth/me", MAX)).status_code == 403
    assert forged.headers["location"].startswith("/sign-in")
    sent = [(message["to"], message["subject"]) for message in mailbox.messages]
    assert sent == [(MAX, "Set a new password"), (MAX, "The password of your account was set by a link")]
    assert known.text.replace(MAX, "") == unknown.text.replace("nobody@acme.example", "")
    assert (await dashboard.login(MAX, NEW["new_password"])).status_code == 200
    answers = [await forget(dashboard, MAX.upper() if each % 2 else MAX) for each in range(14)]
    assert {answer.status_code for answer in answers} == {200}
    assert [message["subject"] for message in mailbox.messages].count("Set a new password") == 10


async def test_the_holder_is_told_of_a_link_that_an_owner_creates_and_another_owners_works_a_day_later(
    dashboard: Dashboard, mailbox: smtp.Mailbox
):
    made = [
        (await dashboard.post(path(dashboard, "members", await id_of(dashboard, email), "reset-link"))).json()
        for email in (MAX, OWNER)
    ]

    assert [(each["emailed"], each["usable_at"]) for each in made] == [(True, None), (True, "2026-05-21T12:00:00Z")]
    assert [message["to"] for message in mailbox.messages] == [MAX, OWNER]
    assert "It works from 2026-05-21 12:00 UTC on." in mailbox.text()
    assert not any(each["link"] in mailbox.text() for each in made)
    early = await dashboard.browser(None).post("/reset-password", data=NEW | {"token": made[1]["link"].split("#")[1]})
    assert (early.status_code, "works from 2026-05-21" in early.text) == (404, True)


async def test_the_holder_is_told_once_a_day_of_many_wrong_passwords(dashboard: Dashboard, mailbox: smtp.Mailbox):
    for email in [MAX] * 14 + ["nobody@acme.example"] * 14:
        await dashboard.app.state.limits.forget("login", "127.0.0.1", email)
        await dashboard.login(email, "wrong")
    await asyncio.gather(*mail.being_sent)

    assert [message["to"] for message in mailbox.messages] == [MAX]
    assert "wrong passwords" in mailbox.text()
