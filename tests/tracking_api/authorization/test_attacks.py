"""Every attack is rejected: what it was after is still good for whoever it belongs to, or dead for everybody."""

from datetime import UTC, datetime
from typing import Any

import httpx

from storage.access import assistants
from tests.storage.access.test_assistants import audited
from tests.tables import table
from tests.tracking_api.authorization.conftest import BASE, Flow, sent
from tests.tracking_api.authorization.consenting import CALLBACK
from tests.tracking_api.dashboard.pages.conftest import OLGA, PASSWORD

ATTACKS: dict[str, Any] = table("tracking_api/authorization/attacks.json")


def error(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


async def test_open_redirect_a_request_with_a_wrong_redirect_url_gets_an_error_page_without_scripts(flow: Flow):
    hostile = "<script>alert(1)</script>"

    for asked in [{"client_id": hostile}, *ATTACKS["wrong_redirects"]]:
        answer = await flow.authorize(**asked)
        assert error(answer) == (400, "invalid_request"), asked
        assert "location" not in answer.headers, asked
    page = await flow.http.get("/authorize", params={"client_id": hostile}, headers={"Accept": "text/html,*/*"})

    assert (page.status_code, page.headers["content-type"]) == (400, "text/html; charset=utf-8")
    assert "Your assistant was not connected" in page.text
    assert "<script>" not in page.text
    assert page.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


async def test_a_faulty_request_goes_back_to_a_client_with_a_document_and_stays_here_for_one_that_registered_itself(
    flow: Flow,
):
    client_id = "https://assistant.example/client.json"
    await flow.acme.store.write(assistants.save_client, client_id, "Helper", [CALLBACK], datetime.now(UTC))

    for asked, rejected in [*ATTACKS["faulty_requests"], ({"state": "s" * 2049}, "invalid_request")]:
        response = sent(await flow.authorize(**{"client_id": client_id, **asked}))
        kept = await flow.authorize(**asked)

        assert (response["error"], response["iss"]) == (rejected, BASE), asked
        assert response["state"] == asked.get("state", "the state")
        assert "code" not in response
        assert error(kept) == (400, rejected), asked
        assert "location" not in kept.headers


async def test_a_stolen_code_is_useless_without_the_clients_verifier(flow: Flow):
    code = await flow.code()

    for stolen, rejected in ATTACKS["stolen_codes"]:
        assert (await flow.token(code=code, **stolen)).json()["error"] == rejected, stolen
    assert (await flow.token(code=code)).status_code == 200


async def test_another_clients_code_and_refresh_token_do_not_exist_for_a_client(flow: Flow):
    code, given, own = await flow.code(), await flow.tokens(), flow.client_id
    await flow.register(client_name="Another")

    stolen = [await flow.token(code=code), await flow.refresh(given["refresh_token"])]
    await flow.http.post("/revoke", data={"token": given["access_token"], "client_id": flow.client_id})

    assert [error(answer) for answer in stolen] == [(400, "invalid_grant")] * 2
    assert (await flow.call(given["access_token"])).status_code == 200
    assert (await flow.token(code=code, client_id=own)).status_code == 200


async def test_a_code_and_a_refresh_token_work_once_and_reuse_revokes_what_they_gave(flow: Flow):
    code = await flow.code(scope="programs:read offline_access")
    given = (await flow.token(code=code)).json()

    widened = await flow.refresh(given["refresh_token"], scope="programs:read events:read")
    renewed, stolen = [await flow.refresh(given["refresh_token"]) for _ in range(2)]
    fresh = await flow.code()
    again, replayed = [await flow.token(code=fresh) for _ in range(2)]

    assert given["scope"] == "programs:read"
    assert error(widened) == (400, "invalid_scope")
    assert (renewed.status_code, error(stolen)) == (200, (400, "invalid_grant"))
    assert error(replayed) == (400, "invalid_grant")
    assert (await flow.call(again.json()["access_token"])).status_code == 401
    logged = [action for action, _ in await audited(flow.acme)]
    assert {"assistant.refresh_reuse", "assistant.code_reuse"} < {*logged}


async def test_only_access_tokens_authenticate_and_only_at_mcp(flow: Flow):
    given = await flow.tokens()
    bearer = {"Authorization": f"Bearer {given['access_token']}"}

    read = [
        (await flow.call(token)).status_code
        for token in (await flow.code(), given["refresh_token"], given["access_token"])
    ]
    elsewhere = [
        (await flow.http.get(path, headers=bearer)).status_code
        for path in ("/api/agent/v1/programs", "/api/programs", "/api/v1/cli/status", "/api/assistants")
    ]

    assert read == [401, 401, 200]
    assert elsewhere == [401, 403, 401, 403]


async def test_csrf_and_clickjacking_consent_is_given_on_our_own_page_alone(flow: Flow):
    asked = (await flow.authorize()).headers["location"]
    sites: list[dict[str, str]] = [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}]

    answers = [
        *[await flow.consent(asked, headers=site) for site in sites],
        *[await flow.consent(asked, csrf=token) for token in ("forged", "")],
    ]
    page = await flow.http.get(asked, headers={"Cookie": f"svc_session={flow.olga}"})

    assert [answer for answer in answers if CALLBACK in answer.headers.get("location", "")] == []
    assert await audited(flow.acme) == []
    policy = page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert policy.endswith("form-action 'self' https://assistant.example")


async def test_session_fixation_signing_in_starts_a_new_session(flow: Flow):
    asked = (await flow.authorize()).headers["location"]
    planted = {"Cookie": "svc_session=ses_planted", "Sec-Fetch-Site": "same-origin"}

    sent_away = await flow.http.get(asked, headers=planted)
    form = {"email": OLGA, "password": PASSWORD, "next": f"/connect/{asked.rpartition('/')[2]}"}
    entered = await flow.http.post("/sign-in", data=form, headers=planted)
    again = await flow.http.get(asked, headers=planted)

    assert sent_away.headers["location"].startswith("/sign-in?next=%2Fconnect%2F")
    assert entered.headers["location"] == form["next"]
    assert entered.cookies["svc_session"] not in {"ses_planted", flow.olga}
    assert again.headers["location"] == sent_away.headers["location"]
