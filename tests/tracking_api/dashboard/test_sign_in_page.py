"""The home page, and signing in and out on the pages: whom a form is taken from, and where it leads."""

import httpx

from tests.tracking_api.dashboard.conftest import FOREIGN, OLGA, PASSWORD, Dashboard
from tests.tracking_api.dashboard.reading import csrf, hidden, words

CREDENTIALS = {"email": OLGA, "password": PASSWORD}


async def test_a_visitor_sees_the_home_page_with_its_picture_and_a_link_to_sign_in(dashboard: Dashboard):
    async with dashboard.browser(None) as visitor:
        home = (await visitor.get("/", headers={"Accept": "text/html"})).text
        figure = home.partition("<figure")[2].partition("</figure>")[0]
        picture = await visitor.get(figure.partition(' src="')[2].partition('"')[0])

    assert "Know which partner sent each customer" in words(home)
    assert 'href="/sign-in"' in home
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/webp")


async def test_signing_in_returns_to_the_requested_page_with_a_cookie_that_no_script_can_read(dashboard: Dashboard):
    async with dashboard.browser(None) as visitor:
        led = await visitor.get(f"{dashboard.pages}/partners")
        form = await visitor.get(led.headers["location"])
        wrong = await visitor.post("/sign-in", data=hidden(form.text) | CREDENTIALS | {"password": "wrong"})
        entered = await visitor.post("/sign-in", data=hidden(wrong.text) | CREDENTIALS)
        page = await visitor.get(entered.headers["location"])

    assert (wrong.status_code, 'role="alert"' in wrong.text, f'value="{OLGA}"' in wrong.text) == (401, True, True)
    assert entered.headers["location"] == f"{dashboard.pages}/partners"
    assert "; HttpOnly; Max-Age=1209600; Path=/; SameSite=lax" in entered.headers["set-cookie"]
    assert page.status_code == 200


async def test_signing_in_from_another_site_is_rejected(dashboard: Dashboard):
    async with dashboard.browser(None, Origin="https://evil.example") as evil, dashboard.browser(None) as visitor:
        answers = [
            await evil.post("/sign-in", data=CREDENTIALS),
            await visitor.post("/sign-in", data=CREDENTIALS, headers=FOREIGN),
        ]

    for answer in answers:
        assert (answer.status_code, answer.headers["location"].startswith("/sign-in")) == (303, True)
        assert "svc_session" not in answer.cookies


async def test_signing_in_leads_to_no_other_site(dashboard: Dashboard):
    for wanted in ("https://evil.example", "//evil.example", "/programs/../../evil", "/\\evil.example"):
        async with dashboard.browser(None) as visitor:
            entered = await visitor.post("/sign-in", data=CREDENTIALS | {"next": wanted})

        assert (entered.status_code, entered.headers["location"]) == (303, "/programs"), wanted


async def test_signing_out_ends_the_session_and_not_only_the_cookie(dashboard: Dashboard, olga: httpx.AsyncClient):
    out = await olga.post("/sign-out", data={"csrf": await csrf(olga)})
    shown = await olga.get(out.headers["location"])
    async with dashboard.browser() as with_the_old_cookie:
        page = await with_the_old_cookie.get(dashboard.pages)

    assert 'svc_session=""' in out.headers["set-cookie"]
    assert "You are signed out." in shown.text
    assert page.headers["location"] == "/sign-in?next=%2Fprograms%2F1"
