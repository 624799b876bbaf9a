"""Every button of every page, pressed by an owner with what the page renders; only empty fields are typed in."""

import sqlite3
from contextlib import closing
from typing import Any

import httpx

from tests import stripe_events as stripe
from tests.storage.payments import paying
from tests.tables import table
from tests.tracking_api.dashboard.conftest import PASSWORD, Dashboard
from tests.tracking_api.dashboard.reading import every_button, words
from tests.tracking_api.dashboard.test_page_access import HTML, ids, paths
from tests.world import HELD_SINCE

__all__ = ["ids"]
AUDITED = "SELECT count(*) FROM audit_entries"
WRITTEN: dict[str, Any] = table("tracking_api/dashboard/buttons.toml")
FILES = {"/workspace": b"\x89PNG\r\n\x1a\n" + bytes(16), "/rates": b"date,USD\n", "/import": b"code,name\nliz,Liz\n"}


async def press(
    olga: httpx.AsyncClient, path: str, said: str, markup: str, live: sqlite3.Connection, **more: str
) -> httpx.Response:
    """Press a button, and confirm it on the page that asks, or by the box to tick: until then nothing is done."""
    before = live.execute(AUDITED).fetchone()
    action, fields = every_button(markup)[said]
    empty = WRITTEN["typed"] | {"current_password": PASSWORD} | more
    typed = {name: empty.get(name, "") if value in ("", [""]) else value for name, value in fields.items()}
    where = action or path
    file = next((content for ending, content in FILES.items() if where.endswith(ending)), None)
    files = {"file": ("of-ours", file)} if file else None
    answer = await olga.post(where, data=typed, headers=HTML, files=files)
    if 'name="confirmed"' in answer.text:
        assert live.execute(AUDITED).fetchone() == before, (path, said)
        asked = every_button(answer.text)
        again, sent = asked.get(said) or next(each for each in asked.values() if "confirmed" in each[1])
        answer = await olga.post(again or where, data=typed | sent | {"confirmed": "yes"}, headers=HTML, files=files)
    return answer


async def test_every_button_does_what_it_says(dashboard: Dashboard, ids: dict[str, Any], sqlite_url: str) -> None:
    wrong: dict[tuple[str, str], str] = {}
    pressed, acme = set(), dashboard.acme
    await acme.customer("user-2", "ben", at=HELD_SINCE)
    await acme.sale("inv-2", customer_key="user-2", at=HELD_SINCE)
    await acme.sale("order-1", customer_key="user-2")
    await paying.take(acme, stripe.checkout(metadata={"svc_customer_key": "user-2"}))
    await paying.take(acme, stripe.invoice(metadata={"svc_customer_key": "user-404"}, customer="cus_9"))
    await dashboard.post(f"/api/workspaces/{acme.workspace_id}/invitations", email="mia@acme.example", role="member")
    click_id = await acme.visitor()
    pages = [path.format(**ids) for path in paths("GET") if "." not in path and path.count("{") == path.count("_id}")]
    with closing(sqlite3.connect(sqlite_url.partition("///")[2])) as live, closing(sqlite3.connect(":memory:")) as kept:
        live.backup(kept)
        async with dashboard.browser() as olga:
            for path in pages:
                markup = (await olga.get(path, headers=HTML)).text
                for said in every_button(markup):
                    chosen = {"click_id": click_id} if "evt_invoice" in said else {"partner_id": str(acme.ben)}
                    answer = await press(olga, path, said, markup, live, **chosen)
                    if answer.status_code not in {200, 303} or 'role="alert"' in answer.text:
                        wrong[path, said] = words(answer.text)
                    pressed.add(said)
                    kept.backup(live)
    assert {each: text for each, text in wrong.items() if WRITTEN["rejected"].get(each[1], "wrong") not in text} == {}
    assert {"Same sale: pi_1", "Try again: evt_invoice"} <= pressed
    assert {"Hand over max@acme.example", "Withdraw mia@acme.example"} <= pressed
