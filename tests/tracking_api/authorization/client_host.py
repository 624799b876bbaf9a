"""The host of a client's metadata document: real TLS from an authority of its own, and every way to misbehave."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import trustme


@dataclass
class ClientHost:
    """Serves documents under `base_url`; `authority` is the file that its certificate hangs from."""

    base_url: str
    authority: Path
    documents: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    stalled: threading.Event = field(default_factory=threading.Event)

    def publish(self, path: str = "/client.json", **members: Any) -> str:
        """Publish a client's document and return its address, which is the client's id."""
        address = f"{self.base_url}{path}"
        document = {"client_id": address, "client_name": "Documented", "redirect_uris": ["http://127.0.0.1/callback"]}
        self.documents[path] = json.dumps(document | members).encode()
        return address


@contextmanager
def serving(folder: Path) -> Iterator[ClientHost]:
    """Serve on localhost until the block ends. `/moved` redirects, `/stall` never answers."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host.asked.append(self.path)
            if self.path == "/stall":
                host.stalled.wait(30)
            content = host.documents.get(self.path)
            self.send_response(302 if self.path == "/moved" else 200 if content is not None else 404)
            self.send_header("Location", "/client.json")
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(tls)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    host = ClientHost(f"https://localhost:{server.server_port}", folder / "authority.pem")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield host
    finally:
        host.stalled.set()
        server.shutdown()
        server.server_close()
        thread.join()
