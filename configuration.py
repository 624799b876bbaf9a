"""The settings from the environment: every SVC_ variable with its type and its default."""

import hmac
import os
from base64 import urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from email.utils import parseaddr
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from limits import parse
from pydantic import AfterValidator, BeforeValidator, Field, FilePath, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from sqlalchemy.exc import ArgumentError

import storage
from storage.engine import database, sealing
from storage.rules import keys
from storage.rules.contact import is_email
from web.client import LOOPBACK

PREFIX = "SVC_"
OLD_SECRET_KEY = "SVC_SECRET_KEY_OLD"  # noqa: S105 - a name, read by `svc admin secrets rotate` alone


class ConfigurationError(ValueError):
    """An SVC_ variable has a value that cannot be used; the message names it."""


def _checked(is_valid: Callable[[str], object], advice: str) -> AfterValidator:

    def checked(value: str) -> str:
        with suppress(ValueError, ArgumentError):
            if is_valid(value):
                return value
        raise ValueError(advice)

    return AfterValidator(checked)


def _url(*schemes: str, example: str, may_have_path: bool = True) -> AfterValidator:

    def fits(url: str) -> bool:
        parts = urlsplit(url)
        names_host = bool(parts.hostname and parts.port != 0) or parts.scheme == "unix"
        rest = f"{parts.path.strip('/')}{parts.query}{parts.fragment}"
        return parts.scheme in schemes and names_host and (may_have_path or not rest)

    return _checked(fits, f"Write a URL, such as {example}")


DatabaseUrl = Annotated[str, _checked(database.parse_url, "Write a URL, such as sqlite+aiosqlite:///svc.db")]
_REPLICA = "Only PostgreSQL has read replicas"
_SENDER = "Write a sender, such as Acme affiliates <affiliates@acme.example>"
_RATE = 'Write a rate, such as "240/minute"; SVC_RATE_LIMIT=off lifts all limits'
ReplicaUrl = Annotated[DatabaseUrl, _checked(lambda url: not database.is_sqlite(database.parse_url(url)), _REPLICA)]
Sender = Annotated[str, _checked(lambda sender: is_email(parseaddr(sender)[1]), _SENDER)]
Rate = Annotated[str, _checked(lambda rate: parse(rate).amount > 0, _RATE)]
_PUBLIC = _url("http", "https", example="https://track.example", may_have_path=False)
BaseUrl = Annotated[str, _PUBLIC, AfterValidator(lambda url: url.rstrip("/"))]
RedisUrl = Annotated[str, _url("redis", "rediss", "unix", example="redis://host:6379")]
SmtpUrl = Annotated[str, _url("smtp", "smtps", example="smtp://user:password@host:587", may_have_path=False)]
Secret = Annotated[str | None, Field(repr=False, min_length=8)]
Header = Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]  # RFC 9110, 5.6.2
_SPLIT = BeforeValidator(lambda hosts: [each.strip() for each in (hosts or "").split(",") if each.strip()])
Hosts = Annotated[tuple[str, ...], NoDecode, _SPLIT]


class Configuration(BaseSettings):
    """The settings of the service: a field for each variable. docs/configuration.md says what each means."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        frozen=True,
        hide_input_in_errors=True,
    )

    database_url: Annotated[DatabaseUrl, Field(repr=False)] = storage.DEFAULT_URL
    read_database_url: Annotated[ReplicaUrl | None, Field(repr=False)] = None
    base_url: BaseUrl = "http://127.0.0.1:8000"
    secret_key: Secret = None
    redis_url: Annotated[RedisUrl | None, Field(repr=False)] = None
    rate_limit: bool = True
    public_rate: Rate = "600/minute"
    click_rate: Rate = "240/minute"
    lead_rate: Rate = "120/minute"
    keyed_rate: Rate = "60000/minute"
    mcp_rate: Rate = "600/minute"
    rejected_rate: Rate = "600/minute"
    login_rate: Rate = "10/15 minutes"
    sign_in_rate: Rate = "100/15 minutes"
    registration_rate: Rate = "60/hour"
    authorization_rate: Rate = "60/minute"
    token_rate: Rate = "120/minute"  # noqa: S105 - a rate
    country_header: Header | None = None
    region_header: Header | None = None
    geo_database: FilePath | None = None
    log_format: Literal["console", "json"] = "console"
    metrics_port: Annotated[int | None, Field(ge=1, le=65_535)] = None
    metrics_host: Annotated[str, AfterValidator(lambda host: str(ip_address(host)))] = "127.0.0.1"
    metrics_token: Secret = None
    smtp_url: Annotated[SmtpUrl | None, Field(repr=False)] = None
    mail_from: Sender | None = None
    body_seconds: Annotated[float, Field(gt=0, le=600)] = 30.0
    drain_seconds: Annotated[float, Field(ge=0, le=600)] = 0.0
    private_client_hosts: Hosts = ()

    def limited(self, rate: str) -> str | None:
        return rate if self.rate_limit else None

    def stored_secret(self) -> str:
        return self.secret_key or sealing.local_key(Path("svc.secret"))

    def set_up_code(self) -> str:
        """Return the one-time code of the set-up page, the same in every process that has the secret key."""
        derived = hmac.digest(self.stored_secret().encode(), b"set-up code", "sha256")
        return keys.SET_UP_PREFIX + urlsafe_b64encode(derived).decode().rstrip("=")

    def sealer(self) -> sealing.Sealer:
        return sealing.Sealer(self.stored_secret())

    @property
    def mcp_url(self) -> str:
        """The URL of the MCP server: what an assistant's access token must be for (RFC 8707)."""
        return f"{self.base_url}/mcp"

    @property
    def assistants_sign_in(self) -> bool:
        """Whether assistants can sign in here: over https, or on this machine (RFC 8414, 2)."""
        url = urlsplit(self.base_url)
        return url.scheme == "https" or url.hostname in LOOPBACK


def variable_of(field: str) -> str:
    """Return the name of a field's variable."""
    return f"{PREFIX}{field}".upper()


def unknown() -> dict[str, str | None]:
    """Return the SVC_ variables of the environment that no setting reads, each with the one that is probably meant."""
    known = [*map(variable_of, Configuration.model_fields), OLD_SECRET_KEY]
    names = sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)
    return {name: next(iter(get_close_matches(name, known, 1, cutoff=0.8)), None) for name in names}


def load() -> Configuration:
    """Return the configuration from the environment. Raises ConfigurationError naming each variable that is wrong."""
    try:
        return Configuration()
    except ValidationError as wrong:
        named = [(variable_of(str(one["loc"][0])), one["msg"].removeprefix("Value error, ")) for one in wrong.errors()]
        lines = [f"{variable}: {message.removeprefix(f'{variable} ')}." for variable, message in named]
        raise ConfigurationError("\n".join(lines)) from None
