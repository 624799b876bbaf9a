"""The metadata for clients, the errors that they get, and the checks before the endpoints."""

from datetime import timedelta

import pytest

from storage.engine.sealing import Sealer
from storage.rules.errors import NotFound
from storage.rules.scope import READING, Scope
from tests.mcp_server.conftest import HANDSHAKE, MODERN, Assistant
from tests.serving import in_the_loop
from tests.storage.access.test_assistants import ASKED
from tests.tracking_api.authorization.conftest import BASE, Flow, sent
from tests.tracking_api.authorization.consenting import CALLBACK
from tests.tracking_api.dashboard.reading import form_of
from tests.world import NOW
from tracking_api.authorization.redirects import response_url, seal, unseal

METADATA = f"{BASE}/.well-known/oauth-protected-resource/mcp"
ALL = " ".join(READING)


async def test_the_metadata_of_the_resource_and_of_its_server_agree(flow: Flow):
    resource = (await flow.http.get(METADATA)).json()
    without_path = (await flow.http.get("/.well-known/oauth-protected-resource")).json()
    server = (await flow.http.get("/.well-known/oauth-authorization-server")).json()

    assert (resource["resource"], resource["authorization_servers"]) == (f"{BASE}/mcp", [BASE])
    assert without_path == resource
    assert resource["scopes_supported"] == server["scopes_supported"] == list(READING)
    assert server["issuer"] == BASE
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["token_endpoint_auth_methods_supported"] == ["none"]
    assert server["client_id_metadata_document_supported"] is True
    assert server["authorization_response_iss_parameter_supported"] is True
    assert {server[f"{name}_endpoint"] for name in ("authorization", "token", "registration", "revocation")} == {
        f"{BASE}/{name}" for name in ("authorize", "token", "register", "revoke")
    }


async def test_the_challenge_names_the_sign_in_only_to_clients_without_a_key(flow: Flow):
    challenges = [
        (await flow.call(credential)).headers["www-authenticate"]
        for credential in (None, "agt_unknown", flow.acme.key, "nonsense", "oat_unknown")
    ]

    assert challenges == [
        f'Bearer scope="{ALL}", resource_metadata="{METADATA}"',
        *["Bearer"] * 3,
        f'Bearer error="invalid_token", scope="{ALL}", resource_metadata="{METADATA}"',
    ]


@pytest.mark.parametrize(
    ("version", "granted", "missing", "top_partners"),
    [
        (HANDSHAKE, "programs:read", "performance:read", 0),
        (MODERN, "programs:read", "performance:read", 0),
        (HANDSHAKE, "performance:read", "partners:read", 3),
    ],
)
async def test_a_tool_beyond_the_scopes_names_the_missing_one(
    flow: Flow, version: str, granted: str, missing: str, top_partners: int
):
    assistant = Assistant(flow.acme, flow.acme)
    assistant.http, assistant.good = flow.http, (await flow.tokens(scope=granted))["access_token"]

    answer = (await assistant.tool("get_performance", version=version, top_partners=top_partners)).http

    assert answer.status_code == 403
    assert answer.json()["error"]["required_scope"] == missing
    wanted = f'scope="{granted} {missing}"'
    challenge = f'Bearer error="insufficient_scope", {wanted}, resource_metadata="{METADATA}"'
    assert answer.headers["www-authenticate"] == challenge


async def test_a_member_chooses_programs_or_cancels_and_an_owner_disconnects_the_assistant(flow: Flow):
    await flow.register(client_name="<b>Taken</b>\u202e")
    page = (await flow.authorize()).headers["location"]
    own = {"Cookie": f"svc_session={flow.olga}", "Sec-Fetch-Site": "same-origin"}
    shown = (await flow.http.get(page, headers=own)).text
    unchosen = await flow.consent(page, program="")
    cancelled = sent(await flow.consent(page, decision="refuse"))
    given = await flow.tokens()
    listed = (await flow.http.get("/assistants", headers=own)).text
    action, fields = form_of(listed, "Disconnect <b>Taken</b>")

    disconnected = await flow.http.post(
        action, data=fields | {"confirmed": "yes"}, headers=own | {"Sec-Fetch-Site": "same-origin"}
    )

    assert all("&lt;b&gt;Taken&lt;/b&gt;</bdi>" in each and "\u202e" not in each for each in (shown, listed))
    assert "Choose at least one of your programs" in unchosen.text
    assert (cancelled["error"], cancelled["state"], "code" in cancelled) == ("access_denied", "the state", False)
    assert disconnected.status_code == 303
    assert (await flow.call(given["access_token"])).status_code == 401


async def test_a_key_in_its_own_header_is_as_good_as_in_the_usual_one(flow: Flow):
    own = {"X-Agent-Key": (await flow.acme.issue(Scope.PROGRAMS_READ)).secret}

    mcp, agent = await flow.call(None, **own), await flow.http.get("/api/agent/v1/me", headers=own)
    wrong = await flow.call(None, **{"X-Agent-Key": "agt_unknown"})

    assert (mcp.status_code, agent.status_code) == (200, 200)
    assert (wrong.status_code, wrong.headers["www-authenticate"]) == (401, "Bearer")


async def test_revoking_returns_200_for_any_token_and_disconnects_its_assistant(flow: Flow):
    given = await flow.tokens()

    answers = [
        (await flow.http.post("/revoke", data={"token": token, "client_id": flow.client_id})).status_code
        for token in ("ort_unknown", given["refresh_token"], given["refresh_token"])
    ]
    incomplete = await flow.http.post("/revoke", data={"token": "ort_unknown"})

    assert answers == [200] * 3
    assert incomplete.json()["error"] == "invalid_request"
    assert (await flow.call(given["access_token"])).status_code == 401


async def test_a_body_of_another_type_or_too_large_is_rejected(flow: Flow):
    form = "application/x-www-form-urlencoded"
    for path, kind in (("/token", form), ("/revoke", form), ("/register", "application/json")):
        typed = await flow.http.post(path, content=b"a", headers={"Content-Type": "text/plain"})
        large = await flow.http.post(path, content=b"a=" + b"b" * 65536, headers={"Content-Type": kind})

        codes = [answer.json()["error"]["code"] for answer in (typed, large)]
        assert codes == ["unsupported_media_type", "payload_too_large"], path


async def test_registrations_from_one_ip_address_are_limited(sqlite_url: str):
    settings = {"base_url": BASE, "registration_rate": "2/hour"}
    async with in_the_loop(BASE, database_url=sqlite_url, **settings) as (client, _):
        answers = [await client.post("/register", json={"redirect_uris": [CALLBACK]}) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert int(answers[2].headers["retry-after"]) > 0


def test_a_request_is_sealed_in_the_browser_for_twenty_minutes():
    sealer, other = Sealer("key"), Sealer("another")
    sealed = seal(ASKED, sealer, at=NOW)

    assert unseal(sealed, sealer, at=NOW) == ASKED
    assert "assistant" not in sealed
    changed = sealed[:-10] + ("A" if sealed[-10] != "A" else "B") + sealed[-9:]
    for wrong in ((sealed, other, NOW), (changed, sealer, NOW), (sealed, sealer, NOW + timedelta(minutes=20))):
        with pytest.raises(NotFound):
            unseal(*wrong[:2], at=wrong[2])


def test_a_response_url_preserves_the_query_and_names_the_issuer():
    answer = response_url(ASKED, "https://track.example", code="oac_1")

    assert answer == "https://assistant.example/callback?a=1&code=oac_1&state=s%26t&iss=https%3A%2F%2Ftrack.example"
