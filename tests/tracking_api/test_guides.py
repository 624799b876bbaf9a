"""GET /docs: the list of guides, as Markdown and as a page."""

from presentation import guides
from tests.tracking_api.conftest import Api


async def test_the_list_names_every_guide(api: Api):
    listed = await api.client.get("/docs")
    page = await api.client.get("/docs", headers={"Accept": "text/html"})

    assert listed.headers["content-type"].startswith("text/markdown")
    for name in guides.NAMES:
        assert f"(/docs/{name})" in listed.text
        assert f'<a href="/docs/{name}">' in page.text
        assert (await api.client.get(f"/docs/{name}")).status_code == 200
