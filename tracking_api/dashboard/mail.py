"""E-mail to people: text and HTML from the templates in templates/mail, through the SMTP server of the settings."""

import asyncio
import logging
import tomllib
from collections.abc import Coroutine
from email.message import EmailMessage
from enum import Enum, auto
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import aiosmtplib
from starlette.requests import Request

from configuration import Configuration
from tracking_api.dashboard.pages.templates import environment

SECONDS = 10.0
FOR_GOOD = 500  # the SMTP codes of a final refusal begin here (RFC 5321, 4.2.1)
_PORTS = {"smtp": 587, "smtps": 465}
being_sent: set[asyncio.Task[bool]] = set()  # a task that nothing refers to may be collected before it is done
ALERTS = tomllib.loads(Path(__file__).with_name("alerts.toml").read_text(encoding="utf-8"))
log = logging.getLogger(__name__)


class Delivery(Enum):
    """What the SMTP server said to an e-mail."""

    ACCEPTED = auto()
    REFUSED = auto()  # for good: there is no such mailbox
    PUT_OFF = auto()  # of this mailbox alone
    FAILED = auto()  # there is no server, it is down, or takes no e-mail of this service


def is_on(request: Request) -> bool:
    """Return whether this server sends e-mail."""
    return request.app.state.settings.smtp_url is not None


async def send(request: Request, to: str, template: str, **values: Any) -> bool:
    """Send a template with this server's settings, as `deliver` does; return whether the SMTP server accepted it."""
    return await deliver(request.app.state.settings, to, template, **values) == Delivery.ACCEPTED


async def deliver(
    settings: Configuration,
    to: str,
    template: str,
    *,
    attached: tuple[str, bytes] | None = None,
    off: str | None = None,
    **values: Any,
) -> Delivery:
    """Send a template's .txt (its first line is the subject) and .html; return what the SMTP server said.

    A PDF file can be attached: its name and its content. A mailbox can turn such e-mails off by a POST to `off`.
    """
    if settings.smtp_url is None:
        return Delivery.FAILED
    message = _written(template, values | {"off": off})
    message["From"] = settings.mail_from or f"no-reply@{urlsplit(settings.base_url).hostname}"
    message["To"] = to
    if off is not None:
        message["List-Unsubscribe"], message["List-Unsubscribe-Post"] = f"<{off}>", "List-Unsubscribe=One-Click"
    if attached:
        message.add_attachment(attached[1], maintype="application", subtype="pdf", filename=attached[0])
    server = urlsplit(settings.smtp_url)
    try:
        await aiosmtplib.send(
            message,
            hostname=server.hostname,
            port=server.port or _PORTS[server.scheme],
            username=unquote(server.username) if server.username else None,
            password=unquote(server.password) if server.password else None,
            use_tls=server.scheme == "smtps",
            timeout=SECONDS,
        )
    except (aiosmtplib.SMTPException, OSError) as error:
        log.warning("the SMTP server did not take an e-mail (%s): %s", template, type(error).__name__)
        if not isinstance(error, aiosmtplib.SMTPRecipientsRefused):
            return Delivery.FAILED
        return Delivery.REFUSED if error.recipients[0].code >= FOR_GOOD else Delivery.PUT_OFF
    return Delivery.ACCEPTED


def _written(template: str, values: dict[str, Any]) -> EmailMessage:
    subject, _, text = environment.get_template(f"mail/{template}.txt").render(values).partition("\n")
    message = EmailMessage()
    message["Subject"] = " ".join(subject.split())
    message.set_content(text.strip() + "\n")
    message.add_alternative(environment.get_template(f"mail/{template}.html").render(values), subtype="html")
    return message


async def send_alert(request: Request, email: str, name: str, **named: str) -> bool:
    """Tell the holder of an account what others did with it, or tried; return whether the SMTP server accepted it."""
    account = f"{request.app.state.base_url}/account"
    texts = {part: text.format_map(named) for part, text in ALERTS[name].items()}
    return await send(request, email, "alert", email=email, account=account, **texts)


def later(sending: Coroutine[Any, Any, bool]) -> None:
    """Send something after the response."""
    task = asyncio.create_task(sending)
    being_sent.add(task)
    task.add_done_callback(being_sent.discard)
