"""The feed of changes, as an agent follows it."""

from tests.agent_api.conftest import Agents


async def test_an_agent_follows_the_feed_from_where_it_stopped(agents: Agents):
    first = (await agents.get("./changes")).json()
    await agents.call("PATCH", ".", json={"commission_rate": 25})
    await agents.acme.customer()

    then = (await agents.get("./changes", cursor=first["cursor"], limit=1)).json()
    rest = (await agents.get("./changes", cursor=then["cursor"])).json()
    end = (await agents.get("./changes", cursor=rest["cursor"])).json()

    assert [each["kind"] for each in then["data"]] == ["program.change"]
    assert [(each["kind"], each["label"]) for each in rest["data"]] == [("lead.record", "settled")]
    assert rest["summary"]["totals"][0]["number"] == 1
    assert (end["data"], end["next_cursor"], end["cursor"]) == ([], None, rest["cursor"])


async def test_a_cursor_whose_entries_are_gone_or_that_is_none_is_answered_clearly(agents: Agents):
    other = await agents.acme.beside()
    cursor = (await agents.get(f"/programs/{other.program_id}/changes")).json()["cursor"]

    elsewhere, nonsense = [await agents.get("./changes", cursor=each) for each in (cursor, "x")]

    assert (elsewhere.status_code, elsewhere.json()["error"]["code"]) == (410, "cursor_expired")
    assert nonsense.status_code == 400
