"""A shop's web server on a port of its own: every address shows the same page, under any host name."""

from tests.failing import Answer, HttpServer, QuietHandler


class Shop(HttpServer):
    """`page` is what every address shows, sent with `headers`; `files` are scripts of the shop's own, by path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.page = ""
        self.headers: dict[str, str] = {}
        self.files: dict[str, str] = {}

    def url(self, path: str = "/", *, host: str = "127.0.0.1") -> str:
        """Return the address of a path; Chromium is told that every host name is this machine."""
        return f"http://{host}:{self.server_port}{path}"


class _Handler(QuietHandler):
    server: Shop

    def do_GET(self) -> None:  # noqa: N802 - the name of the base class
        file = self.server.files.get(self.path)
        kind = {"Content-Type": "text/html; charset=utf-8" if file is None else "text/javascript"}
        self.send(Answer(200, (self.server.page if file is None else file).encode(), kind | self.server.headers))
