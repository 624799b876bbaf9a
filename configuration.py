"""The settings from the environment: every SVC_ variable with its type, its default and its purpose."""

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
    """The settings of the service: a field for each variable, in the order of docs/configuration.md."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        frozen=True,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,  # they are the descriptions in docs/configuration.md
    )

    database_url: Annotated[DatabaseUrl, Field(repr=False)] = storage.DEFAULT_URL
    """The database: a SQLite file (three slashes: relative path, four: absolute) or
    `postgresql+asyncpg://user:password@host/name`."""
    read_database_url: Annotated[ReplicaUrl | None, Field(repr=False)] = None
    """A read replica of the database. Reports, lists of events and customers, explanations and MCP read there; keys,
    sessions and settings are read on the primary."""
    base_url: BaseUrl = "http://127.0.0.1:8000"
    """The public URL of the service. Links in responses start with it, and `/mcp` accepts this host and localhost.
    Unset, `svc serve` uses the URL that it listens on."""
    secret_key: Secret = None
    """Encrypts webhook secrets, second factors and the requests of assistants; keys, tokens and passwords are hashed.
    Unset, the service creates a key in `svc.secret` in the working directory (mode 0600). Set it when workers run on
    several machines, and store it apart from the database. `svc admin secrets rotate` changes it."""
    redis_url: Annotated[RedisUrl | None, Field(repr=False)] = None
    """`redis://host:6379`: several processes share their rate limits. Unset, each process counts alone."""
    rate_limit: bool = True
    """`off` lifts every limit except the one on signing in to the dashboard."""
    public_rate: Rate = "600/minute"
    """The limit of clicks and of leads without a key for one IP address, whatever program they name. An IPv6 address
    counts with its /64, here and in every limit."""
    click_rate: Rate = "240/minute"
    """The limit of clicks for one IP address and one program."""
    lead_rate: Rate = "120/minute"
    """The limit of leads without a key for one IP address and one program."""
    keyed_rate: Rate = "60000/minute"
    """The limit of tracking calls for one IP address and one program key: generous, so that a nightly backfill
    passes."""
    mcp_rate: Rate = "600/minute"
    """The limit of requests to `/mcp` for one agent key."""
    rejected_rate: Rate = "600/minute"
    """The limit of requests with an agent key, an access token, a device code or a Stripe signature that is not valid,
    for one IP address. A key that has worked passes whoever shares its address."""
    login_rate: Rate = "10/15 minutes"
    """The limit of sign-ins to the dashboard for one IP address and one account."""
    sign_in_rate: Rate = "100/15 minutes"
    """The limit of rejected sign-ins to the dashboard for one IP address (IPv6: /64) across accounts."""
    registration_rate: Rate = "60/hour"
    """The limit of assistants that one IP address can register."""
    authorization_rate: Rate = "60/minute"
    """The limit of sign-in requests by assistants for one IP address."""
    token_rate: Rate = "120/minute"  # noqa: S105 - a rate
    """The limit of token requests for one IP address."""
    country_header: Header | None = None
    """The header in which your proxy sends a visitor's country (ISO 3166-1, such as `CF-IPCountry`). Name it only if
    the proxy always sets it: visitors can send any header themselves."""
    region_header: Header | None = None
    """The header of the visitor's region (ISO 3166-2), beside `SVC_COUNTRY_HEADER`."""
    geo_database: FilePath | None = None
    """A MaxMind DB file (`.mmdb`, of cities or countries) with the country and region of an IP address where no header
    does. None is shipped; no IP address is stored."""
    log_format: Literal["console", "json"] = "console"
    """`console` for people, `json` for a log collector: one line for each event on stderr. Lines about a request have
    its `request_id` and `program_id`; none has a key, a password or an e-mail address."""
    metrics_port: Annotated[int | None, Field(ge=1, le=65_535)] = None
    """A second port that serves `GET /metrics` for Prometheus, without a token: keep it inside. Each of several workers
    takes another one from this one on; `svc serve` does not start while one of them is in use."""
    metrics_host: Annotated[str, AfterValidator(lambda host: str(ip_address(host)))] = "127.0.0.1"
    """The IP address on which `SVC_METRICS_PORT` listens; `0.0.0.0` in a container."""
    metrics_token: Secret = None
    """The token that opens `GET /metrics` on the public port (`Authorization: Bearer`): long and random. Unset, the
    public port answers 404. Several workers need `SVC_METRICS_PORT` instead."""
    smtp_url: Annotated[SmtpUrl | None, Field(repr=False)] = None
    """The server that sends e-mail: `smtp://user:password@host:587` (STARTTLS if it is offered) or
    `smtps://user:password@host:465`. Unset, no e-mail is sent, and the dashboard shows each link for copying."""
    mail_from: Sender | None = None
    """The sender of e-mail, such as `Acme affiliates <affiliates@acme.example>`. Unset, `no-reply@` the host of
    `SVC_BASE_URL`."""
    body_seconds: Annotated[float, Field(gt=0, le=600)] = 30.0
    """The time in which a request body must arrive."""
    drain_seconds: Annotated[float, Field(ge=0, le=600)] = 0.0
    """How long a process that is told to stop still serves, with 503 on `/readyz`: time for a proxy that asks for it to
    send calls elsewhere. SIGINT (Ctrl-C) ends it."""
    private_client_hosts: Hosts = ()
    """Hosts, separated by commas, whose client metadata documents may have private IP addresses (assistants in your own
    network)."""

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
