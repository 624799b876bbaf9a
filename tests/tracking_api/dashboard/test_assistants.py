"""Connected assistants as JSON: a member's own, an owner's whole workspace, and how one is ended."""

from storage.access import assistant_tokens, assistants, sessions
from storage.rules import keys
from tests.storage.access.test_assistants import ASKED
from tests.tracking_api.dashboard.conftest import MAX, OLGA, Dashboard
from tests.world import NOW


async def connect(dashboard: Dashboard, who: str) -> None:
    """Connect an assistant of a member."""
    store, token_hash = dashboard.acme.store, keys.digest(dashboard.tokens[who])
    visitor = await store.read(sessions.identify, token_hash, at=NOW)
    programs = [dashboard.acme.program_id]
    code = await store.write(assistants.connect, ASKED, visitor=visitor, program_ids=programs, at=NOW)
    assert await store.write(assistant_tokens.exchange, code, client_id=ASKED.client_id, at=NOW) is not None


async def test_a_member_sees_and_disconnects_their_own_assistants_and_an_owner_all(dashboard: Dashboard):
    await connect(dashboard, OLGA)
    await connect(dashboard, MAX)

    of_max, of_olga = [(await dashboard.get("/api/assistants", who)).json()["data"] for who in (MAX, OLGA)]

    assert [each["email"] for each in of_max] == [MAX]
    assert [each["email"] for each in of_olga] == [MAX, OLGA]
    assert of_max[0] == {
        "id": of_max[0]["id"],
        "name": "Helper",
        "host": "assistant.example",
        "workspace_id": dashboard.acme.workspace_id,
        "email": MAX,
        "scopes": list(ASKED.scopes),
        "program_ids": [dashboard.acme.program_id],
        "connected_at": "2026-05-20T12:00:00Z",
        "last_used_at": "2026-05-20T12:00:00Z",
    }
    newest, oldest = [each["id"] for each in of_olga]
    ended = [
        (await dashboard.call("DELETE", f"/api/assistants/{assistant_id}", who)).status_code
        for assistant_id, who in ((oldest, MAX), (newest, OLGA), (newest, OLGA), (oldest, OLGA), ("x", OLGA))
    ]
    assert ended == [404, 200, 404, 200, 404]
    assert (await dashboard.get("/api/assistants")).json() == {"data": []}
