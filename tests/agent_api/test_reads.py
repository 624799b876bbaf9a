"""What agents read: the report, readiness, what changed since, and their own key."""

import json
from datetime import timedelta

from storage.access import agent_keys
from storage.rules.scope import Scope
from tests.agent_api.conftest import Agents
from tests.world import NOW


async def test_a_breakdown_groups_and_filters_the_report(agents: Agents):
    for source, country in (("letter", "DE"), ("letter", "SE"), ("<b>", "DE")):
        await agents.acme.visitor(dimensions=json.dumps({"utm_source": source, "country": country}))
    asked = {"by": "utm_source", "second": "country", "utm_source": "letter", "metrics": "clicks", "limit": 1}

    found = (await agents.get("./breakdown", **asked)).json()

    group = {"values": {"utm_source": "letter", "country": "DE"}, "metrics": {"clicks": 1}}
    others = {"groups": 1, "metrics": {"clicks": 1}}
    assert (found["data"], found["other"], found["total"]) == ([group], others, {"clicks": 2})
    for wrong, field in (({}, "by"), ({"by": "os", "country": ""}, "country")):
        rejected = (await agents.get("./breakdown", **wrong)).json()["error"]
        assert (rejected["code"], rejected["fields"][0]["field"]) == ("validation_error", field)


async def test_readiness_names_one_blocker_and_what_to_do(agents: Agents):
    readiness = (await agents.get("./readiness")).json()

    assert (readiness["ready"], readiness["blocker"]) == (False, "tracker_installed")
    assert readiness["identifier_health"]["state"] == "unknown"
    assert [gate for gate in readiness["gates"] if 'src="http://svc.test/js/' in (gate["next_action"] or "")]


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


async def test_a_key_sees_its_own_scopes_and_programs(agents: Agents):
    second = await agents.acme.beside()
    mine, until = [agents.acme.program_id], NOW + timedelta(days=1)
    key = await agents.issue([Scope.PROGRAMS_READ], program_ids=mine, expires_at=until)

    limited, everything = [await agents.call("GET", "/programs", each) for each in (key, "good")]
    me = (await agents.call("GET", "/me", key)).json()

    assert [program["id"] for program in limited.json()["data"]] == mine
    assert [program["id"] for program in everything.json()["data"]] == [second.program_id, *mine]
    assert (me["name"], me["scopes"], me["programs"]) == ("Reporter", ["programs:read"], mine)
    assert me["expires_at"] == "2026-05-21T12:00:00Z"


async def test_a_key_that_is_used_often_is_written_once_in_five_minutes(agents: Agents):
    used = []

    for minutes in (0, 1, 4, 6):
        agents.at = NOW + timedelta(minutes=minutes)
        await agents.get("/me")
        found = await agents.acme.store.read(agent_keys.list_all, workspace_id=agents.acme.workspace_id)
        used.append(found[0].last_used_at)

    assert used == [*[NOW] * 3, NOW + timedelta(minutes=6)]
