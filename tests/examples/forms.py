"""A customer without a browser, who submits the forms of an example shop as a browser without JavaScript does."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

FORM = re.compile(r"<form.*?</form>", re.DOTALL)
HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)"(?: value="([^"]*)")?')


class Customer:
    """Keeps the cookies of a shop; `page` is what the customer sees."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._url = ""
        self.page = ""

    def visit(self, path: str) -> None:
        """Open a page."""
        self._show(self._client.get(path))

    def submit(self, button: str, **fields: str) -> None:
        """Press a button of the page."""
        form = next(each for each in FORM.findall(self.page) if f">{button}</button>" in each)
        hidden = {name: value.replace("&quot;", '"') for name, value in HIDDEN.findall(form)}
        self._show(
            self._client.post(self._url, files={name: (None, value) for name, value in (hidden | fields).items()})
        )

    def carry(self, click_id: str | None) -> None:
        """Carry this click from now on, or none."""
        self._client.cookies.delete("svc_click_id")
        if click_id:
            self._client.cookies.set("svc_click_id", click_id)

    def _show(self, answer: httpx.Response) -> None:
        assert answer.status_code == 200, answer.text
        self._url, self.page = str(answer.url), answer.text


@contextmanager
def customer(base_url: str) -> Iterator[Customer]:
    """Return a customer of a shop."""
    with httpx.Client(base_url=base_url, follow_redirects=True, timeout=30) as client:
        yield Customer(client)
