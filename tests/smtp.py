"""A real SMTP server for tests, which keeps what it receives."""

from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller

from tests import postgres


class Mailbox:
    """The messages that arrived; `url` is the server's."""

    def __init__(self) -> None:
        self.url = ""
        self.messages: list[EmailMessage] = []
        self.refused: dict[str, str] = {}  # the answers to addresses that take no e-mail

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _: Any) -> str:  # noqa: N802
        if address not in self.refused:
            envelope.rcpt_tos.append(address)
        return self.refused.get(address, "250 OK")

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's names
        parsed = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(parsed, EmailMessage)
        self.messages.append(parsed)
        return "250 OK"

    def text(self) -> str:
        part = self.messages[-1].get_body(("plain",))
        assert part is not None
        return str(part.get_content())


@contextmanager
def running() -> Iterator[Mailbox]:
    mailbox = Mailbox()
    controller = Controller(mailbox, hostname="127.0.0.1", port=postgres.free_port())
    controller.start()
    mailbox.url = f"smtp://127.0.0.1:{controller.port}"
    try:
        yield mailbox
    finally:
        controller.stop()
