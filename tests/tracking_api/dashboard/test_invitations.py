"""Invitations, reset links and forgotten passwords over HTTP, with and without e-mail."""

import re
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

import tracking_api.app
from configuration import Configuration
from storage.access import accounts
from tests import smtp
from tests.smtp import Mailbox
from tests.tracking_api.dashboard.conftest import FOREIGN, MAX, OLGA, Dashboard
from tests.world import NOW

EVA = "eva@acme.example"
NEW = {"new_password": "several unrelated words", "repeated": "several unrelated words"}


@pytest.fixture(scope="module")
def mail_server() -> Iterator[Mailbox]:
    """The SMTP server of this module's tests."""
    with smtp.running() as mailbox:
        yield mailbox


@pytest.fixture
def mailbox(mail_server: Mailbox) -> Mailbox:
    """The same, with an empty mailbox."""
    mail_server.messages.clear()
    return mail_server


@pytest.fixture
async def mailing(dashboard: Dashboard, mailbox: Mailbox) -> AsyncIterator[Dashboard]:
    """The dashboard on a server that sends e-mail."""
    async with served(dashboard, settings(mailbox.url)):
        yield dashboard


def settings(smtp_url: str) -> Configuration:
    sender = "Acme <acme@acme.example>"
    return Configuration(secret_key="a secret key", base_url="http://svc.test", smtp_url=smtp_url, mail_from=sender)


def served(dashboard: Dashboard, chosen: Configuration) -> httpx.AsyncClient:
    """Let the dashboard's calls go to a service with other settings."""
    dashboard.app = tracking_api.app.create(dashboard.acme.store, chosen, clock=lambda: NOW)
    dashboard.client = dashboard.browser(None)
    return dashboard.client


def invitations(dashboard: Dashboard) -> str:
    return f"/api/workspaces/{dashboard.acme.workspace_id}/invitations"


async def forget(dashboard: Dashboard, email: str, **headers: str) -> httpx.Response:
    return await dashboard.browser(None).post("/forgotten-password", data={"email": email}, headers=headers)


async def test_an_owner_invites_and_the_link_creates_the_account(dashboard: Dashboard):
    made = await dashboard.post(invitations(dashboard), email=EVA, role="owner")
    listed = (await dashboard.get(invitations(dashboard))).json()["data"]
    path = made.json()["link"].removeprefix("http://127.0.0.1:8000")

    shown = await dashboard.browser(None).get(path)
    weak = await dashboard.browser(None).post(path, data={"new_password": "password12", "repeated": "password12"})
    forged = await dashboard.browser(None).post(path, data=NEW, headers=FOREIGN)
    joined = await dashboard.browser(None).post(path, data=NEW)
    again = await dashboard.browser(None).get(path)

    assert (made.status_code, made.json()["emailed"]) == (201, False)
    assert [each["email"] for each in listed] == [EVA]
    assert "link" not in listed[0]
    assert "Join Acme" in shown.text
    assert (weak.status_code, "easy to guess" in weak.text) == (400, True)
    assert forged.headers["location"].startswith("/sign-in?")
    assert (joined.status_code, joined.headers["location"], again.status_code) == (303, "/programs", 404)
    assert (await dashboard.login(EVA, NEW["new_password"])).json()["workspaces"][0]["role"] == "owner"


async def test_an_invitation_is_withdrawn_and_one_to_no_address_is_not_made(dashboard: Dashboard):
    made = (await dashboard.post(invitations(dashboard), email=EVA)).json()
    one = f"{invitations(dashboard)}/{made['id']}"

    assert (await dashboard.call("DELETE", one)).json() == {"success": True}
    assert (await dashboard.call("DELETE", one)).status_code == 404
    for email in ("", "nobody", "a b@c.example", "a@b.example\r\nBcc: c@d.example"):
        rejected = await dashboard.post(invitations(dashboard), email=email)
        assert [each["field"] for each in rejected.json()["error"]["fields"]] == ["email"], email
    assert (await dashboard.get(invitations(dashboard))).json() == {"data": []}


async def test_an_owner_creates_a_link_that_sets_a_members_password(dashboard: Dashboard):
    max_id = await dashboard.acme.store.read(accounts.find_id, MAX)
    made = await dashboard.post(invitations(dashboard).replace("invitations", f"members/{max_id}/reset-link"))
    path = made.json()["link"].removeprefix("http://127.0.0.1:8000")

    await dashboard.browser(None).post(path, data=NEW)

    assert made.headers["cache-control"] == "no-store"
    assert (await dashboard.login(MAX, NEW["new_password"])).status_code == 200


async def test_an_invitation_goes_out_as_text_and_html_and_stands_while_the_smtp_server_is_down(
    mailing: Dashboard, mailbox: Mailbox
):
    made = (await mailing.post(invitations(mailing), email=EVA)).json()
    async with served(mailing, settings("smtp://127.0.0.1:9")):
        not_sent = (await mailing.post(invitations(mailing), email="max2@acme.example")).json()

    [message] = mailbox.messages
    html = message.get_body(("html",))
    assert (made["emailed"], not_sent["emailed"]) == (True, False)
    assert not_sent["link"].startswith("http://svc.test/join/inv_")
    assert (message["to"], message["from"]) == (EVA, "Acme <acme@acme.example>")
    assert message["subject"] == f"{OLGA} invites you to Acme"
    assert made["link"] in mailbox.text()
    assert html is not None
    assert f'<a href="{made["link"]}">' in html.get_content()


async def test_a_forgotten_password_is_set_by_the_link_in_an_e_mail(mailing: Dashboard, mailbox: Mailbox):
    forged = await forget(mailing, MAX, **FOREIGN)
    known, unknown = await forget(mailing, MAX), await forget(mailing, "nobody@acme.example")
    found = re.search(r"http://svc\.test(/reset-password/\S+)", mailbox.text())
    assert found
    await mailing.browser(None).post(found[1], data=NEW)

    assert forged.headers["location"].startswith("/sign-in")
    assert [message["to"] for message in mailbox.messages] == [MAX]
    assert known.text.replace(MAX, "") == unknown.text.replace("nobody@acme.example", "")
    assert (await mailing.login(MAX, NEW["new_password"])).status_code == 200


async def test_one_account_gets_few_links(mailing: Dashboard, mailbox: Mailbox):
    answers = [await forget(mailing, MAX.upper() if each % 2 else MAX) for each in range(14)]

    assert {answer.status_code for answer in answers} == {200}
    assert len(mailbox.messages) == 10


async def test_without_e_mail_the_page_says_whom_to_ask_and_creates_no_link(dashboard: Dashboard):
    shown = await dashboard.browser(None).get("/forgotten-password")
    await forget(dashboard, MAX)

    assert "Ask an owner of your workspace" in shown.text
    log = (await dashboard.get("./audit-log")).json()["data"]
    assert "account.reset_link" not in {entry["action"] for entry in log}
