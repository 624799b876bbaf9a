"""Attacks on the consent page: only the member who views it can consent, and only to what it shows."""

from tests.tracking_api.authorization.conftest import Flow
from tests.tracking_api.authorization.consenting import CALLBACK
from tests.tracking_api.authorization.test_attacks import audited
from tests.tracking_api.dashboard.pages.conftest import OLGA, PASSWORD


async def test_csrf_consent_sent_by_another_site_grants_nothing(flow: Flow):
    asked = (await flow.authorize()).headers["location"]
    sites: list[dict[str, str]] = [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}]

    answers = [
        *[await flow.consent(asked, headers=site) for site in sites],
        *[await flow.consent(asked, csrf=token) for token in ("forged", "")],
    ]

    assert [answer for answer in answers if CALLBACK in answer.headers.get("location", "")] == []
    assert await audited(flow) == []


async def test_clickjacking_no_site_can_frame_the_consent_page_and_its_form_ends_only_at_the_client(flow: Flow):
    asked = (await flow.authorize()).headers["location"]

    page = await flow.http.get(asked, headers={"Cookie": f"svc_session={flow.olga}"})

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


async def test_a_request_cannot_be_changed_on_its_way_through_the_browser(flow: Flow):
    asked = (await flow.authorize()).headers["location"]
    changed = asked[:-10] + ("A" if asked[-10] != "A" else "B") + asked[-9:]

    page = await flow.http.get(changed, headers={"Cookie": f"svc_session={flow.olga}"})

    assert page.status_code == 404
