"""GET /docs: the list of guides, as Markdown and as a page."""

import re
from urllib.parse import urljoin

from presentation import guides
from tests.tracking_api.conftest import Api
from tracking_api.guides import SUBJECTS

ELSEWHERE = {"/", "/sign-in", "/openapi.json", "/llms.txt"}  # other tests request them
HTML = {"Accept": "text/html"}


async def test_the_list_names_every_guide(api: Api):
    listed = await api.client.get("/docs")
    page = await api.client.get("/docs", headers={"Accept": "text/html"})

    assert listed.headers["content-type"].startswith("text/markdown")
    for name in guides.titles():
        assert f"(/docs/{name})" in listed.text
        assert f'<a href="/docs/{name}">' in page.text
        assert (await api.client.get(f"/docs/{name}")).status_code == 200


async def test_a_page_has_a_side_menu_anchors_and_code_to_copy_with_the_address_of_this_server(api: Api):
    page = (await api.client.get("/docs/integration", headers=HTML)).text
    steps = (await api.client.get("/docs/verify", headers=HTML)).text

    assert all(f'href="/docs/{name}"' in page for name in guides.titles())
    assert '<a href="/docs/integration" aria-current="page">' in page
    section = 'id="one-user-one-id">One user, one id<a class="anchor" href="#one-user-one-id"'
    assert section in page
    assert '<li><a href="#one-user-one-id">One user, one id</a></li>' in page
    assert page.count('class="copy"') == page.count("<pre ") > 2
    assert ("https://svc.example" in steps, "http://127.0.0.1:8000/api/v1/track/sale" in steps) == (False, True)


async def test_every_guide_is_in_the_side_menu_once():
    assert sorted(name for names in SUBJECTS.values() for name in names) == sorted(guides.titles())


async def test_every_link_of_every_guide_leads_to_a_page_and_a_section_of_it(api: Api):
    pages = {f"/docs/{name}": await api.client.get(f"/docs/{name}", headers=HTML) for name in guides.titles()}
    pages["/docs"] = await api.client.get("/docs", headers=HTML)
    sections = {path: set(re.findall(r' id="([^"]+)"', page.text)) for path, page in pages.items()}
    links = {(path, link) for path, page in pages.items() for link in re.findall(r' href="([^"]+)"', page.text)}

    broken = []
    for path, link in links:
        target, _, section = urljoin(path, link).partition("#")
        if target in pages:
            is_there = not section or section in sections[target]
        else:
            is_there = target in ELSEWHERE or target.startswith(("https://", "/static/"))
        if not is_there:
            broken.append(f"{path}: {link}")

    assert len(links) > 200
    assert broken == []


async def test_operators_read_their_guides_with_links_between_them_and_the_address_of_this_server(api: Api):
    index = (await api.client.get("/docs", headers=HTML)).text
    operations = (await api.client.get("/docs/operations", headers=HTML)).text
    connecting = (await api.client.get("/docs/connecting", headers=HTML)).text

    assert ">Operators</h2>" in index
    assert '<a href="/docs/reliability">' in operations
    assert "screenshots/" not in connecting
    assert ("track.example" in connecting, "http://127.0.0.1:8000/mcp" in connecting) == (False, True)
