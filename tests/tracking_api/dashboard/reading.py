"""Reading pages as served: their words, their links, and the forms as a browser would send them."""

import html
import re
from html.parser import HTMLParser
from typing import Any

import httpx

Fields = dict[str, Any]


async def csrf(browser: httpx.AsyncClient) -> str:
    """Return the token that the forms of this browser's session carry."""
    return (await browser.get("/programs")).text.partition('name="csrf" value="')[2].partition('"')[0]


def words(markup: str) -> str:
    """Return what people read of a page's main part, or of a part of it."""
    main = markup.partition("<main")[2] or markup
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).split())


def link(markup: str, name: str) -> str:
    """Return where the link with a name leads to."""
    found = re.search(rf'<a [^>]*href="([^"]*)"[^>]*>(?:<[^>]*>)*{re.escape(name)}<', markup)
    assert found, name
    return html.unescape(found[1])


async def press(browser: httpx.AsyncClient, path: str, *, files: Any = None, **fields: Any) -> httpx.Response:
    """Send a form of a page with the token of this browser's session."""
    return await browser.post(path, data={"csrf": await csrf(browser), **fields}, files=files)


class _Forms(HTMLParser):
    """The forms of a page: where each is sent to, what a browser would send, and its buttons by what they say."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, Fields, dict[str, Fields]]] = []
        self.methods: list[str] = []
        self._named: dict[str, dict[str, Fields]] = {}  # the buttons of forms with an id
        self._elsewhere: list[tuple[str, str, Fields]] = []  # buttons outside of the form that they name
        self._field, self._said, self._form = "", "", ""
        self._pressed: Fields | None = None
        self.feed(page)
        for form, said, pressed in self._elsewhere:
            self._named[form][said] = pressed

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        name, value = given.get("name", ""), given.get("value", "")
        is_ticked = given.get("type") not in {"radio", "checkbox"} or "checked" in given
        if tag == "form":
            self.found.append((given.get("action", ""), {}, {}))
            self.methods.append(given.get("method", "get"))
            self._named[given.get("id", "")] = self.found[-1][2]
        elif tag == "button":
            self._form = given.get("form", "")
            if "formaction" in given:
                self.found.append((given["formaction"], self.found[-1][1], {}))
                self.methods.append(given.get("formmethod", "get"))
            self._pressed, self._said = {name: value} if name else {}, ""
            if given.get("type") == "button":  # sends nothing
                self._pressed = None
        elif tag in {"select", "textarea"}:
            self._field, self._said = name, ""
        elif tag == "input" and name and is_ticked and self.found:
            self.found[-1][1].setdefault(name, []).append(value)
        elif tag == "option" and ("selected" in given or self._field not in self.found[-1][1]):
            self.found[-1][1][self._field] = [value]

    def handle_data(self, data: str) -> None:
        self._said += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "button" and self._form and self._pressed is not None:
            self._elsewhere.append((self._form, " ".join(self._said.split()), self._pressed))
        elif tag == "button" and self._pressed is not None and self.found:
            self.found[-1][2][" ".join(self._said.split())] = self._pressed
        elif tag == "textarea":
            self.found[-1][1].setdefault(self._field, []).append(self._said)


def every_button(page: str) -> dict[str, tuple[str, Fields]]:
    """Return the buttons that change something, by what they say: where each sends what a browser would send."""
    forms = _Forms(page)
    posted = [form for form, method in zip(forms.found, forms.methods, strict=True) if method == "post"]
    return {said: (action, fields | pressed) for action, fields, each in posted for said, pressed in each.items()}


def form_of(page: str, button: str) -> tuple[str, Fields]:
    """Return where the form with a button is sent to, and what a browser would send once it is pressed."""
    (found,) = (form for form in _Forms(page).found if button in form[2])
    return found[0], found[1] | found[2][button]


def hidden(page: str) -> Fields:
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page)
    return {name: html.unescape(value) for name, value in found}


async def send(browser: httpx.AsyncClient, path: str, button: str, **typed: Any) -> httpx.Response:
    """Open a page, fill in the form with a button, and press it."""
    action, fields = form_of((await browser.get(path)).text, button)
    return await browser.post(action or path, data=fields | typed)


async def follow(browser: httpx.AsyncClient, answer: httpx.Response) -> str:
    """Return the words of the page that a sent form leads to."""
    assert answer.status_code == 303, words(answer.text)
    return words((await browser.get(answer.headers["location"])).text)
