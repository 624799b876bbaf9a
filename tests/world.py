"""The named people that every test shares: Acme's program, its partners Anna and Ben, and their events."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from argon2 import PasswordHasher
from sqlalchemy import Connection, Table, func, select

from storage import Storage
from storage.access import agent_keys, members, program_keys, sessions, workspaces
from storage.access.workspaces import MemberStatus, Role
from storage.diagnosis.explanation import explain
from storage.diagnosis.facts import Subject
from storage.engine.audit import OPERATOR, SERVICE, Actor, By
from storage.engine.sealing import Sealer
from storage.lists.declaration import List, ListQuery, ListScope, Page
from storage.lists.find import find, get
from storage.lists.flags import FLAGS
from storage.management import commission_decisions, partners, program_settings
from storage.rules import keys
from storage.rules.commission import CommissionStatus
from storage.rules.errors import ServiceError
from storage.rules.fraud.flag import Finding, FlagKind
from storage.rules.scope import Scope
from storage.rules.settings import ProgramSettings
from storage.tables import ledger_entries
from storage.tracking import clicks, flagging, leads, refunds, sales
from storage.tracking.clicks import Click, ClickResult
from storage.tracking.leads import Lead, LeadResult
from storage.tracking.ledger import ACCOUNT_KINDS
from storage.tracking.received_calls import SENT, Call, PresentedKey, Principal, Public, reject
from storage.tracking.refunds import Refund, RefundResult
from storage.tracking.sale_decisions import Sale, SaleResult

NOW = datetime(2026, 5, 20, 12, 0, tzinfo=UTC)
HELD_SINCE = NOW - timedelta(days=15)  # what happened then is off hold now
OLGA = Actor("user", "1", "olga@acme.example")
BY, SETUP = By(OPERATOR, NOW), By(SERVICE, NOW)  # what the service does by itself is not in the log
LANDING_PAGE = "https://acme.example/?aff=anna"
SEALER = Sealer(SECRET := "a secret key")
_requests = count(1)
_cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)  # a hash carries its cost: verifying is cheap too


@dataclass(frozen=True)
class World:
    """Acme's workspace with one program, whose partners are Anna and Ben; `key` is the program key's value."""

    store: Storage
    workspace_id: int
    owner_id: int
    program_id: int
    key: str
    anna: int
    ben: int

    @property
    def principal(self) -> PresentedKey:
        return PresentedKey(keys.digest(self.key), keys.key_program(self.key))

    async def handle(
        self, operation: Callable[..., Any], item: Any, principal: Principal | None = None, **details: Any
    ) -> Any:
        """Run a tracking operation with the program's key, unless another principal is given; raises its error."""
        name = details.pop("call", operation.__module__.rpartition(".")[2].removesuffix("s"))
        at = details.pop("at", NOW)
        sent = {name: details.pop(name) for name in SENT if name in details}
        who = {name: details.pop(name) for name in ("user_agent", "network_hash") if name in details}
        by = (principal or self.principal)._replace(**who)
        request_id = details.pop("request_id", f"request-{next(_requests)}")
        call = Call(by, item, name, request_id, at, lambda: sent, seal=SEALER.seal)
        outcome = await self.store.handle(operation, call)
        if isinstance(outcome.result, ServiceError):
            raise outcome.result
        return outcome.result

    async def reject(self, error: ServiceError, **details: Any) -> None:
        """Have a sale rejected, and logged."""
        with suppress(ServiceError):
            await self.handle(reject, error, **{"call": "sale", **details})

    async def refund(
        self, transaction_id: str = "inv-1", amount_cents: int | None = None, **fields: Any
    ) -> RefundResult:
        """Refund a sale: all that remains by default."""
        taken = Refund(transaction_id, **{"at": NOW, "amount_cents": amount_cents, **fields})
        refunded: RefundResult = await self.handle(refunds.record, taken)
        return refunded

    async def do(
        self, operation: Callable[..., Any], *values: Any, actor: Actor = OPERATOR, at: datetime = NOW, **about: Any
    ) -> Any:
        """Run a writing operation of the program, as the operator and now unless said otherwise."""
        about = {"by": By(actor, at), **about}
        return await self.store.write_in(self.program_id, operation, self.program_id, *values, **about)

    async def change(self, at: datetime = NOW, **settings: Any) -> None:
        await self.do(program_settings.change, settings, at=at)

    async def beside(self, **settings: Any) -> "World":
        """Create a further program in the workspace."""
        return await program_of(self.store, self.workspace_id, self.owner_id, **settings)

    async def issue(self, *scopes: Scope, **options: Any) -> Any:
        """Issue an agent key, with every scope by default."""
        about: dict[str, Any] = {"name": "Reporter", "scopes": scopes or tuple(Scope), "at": NOW}
        return await self.store.write(agent_keys.issue, **about | {"workspace_id": self.workspace_id} | options)

    async def join(self, email: str = "max@acme.example", role: Role = Role.MEMBER, **about: Any) -> int:
        """Add a member to the workspace, and return their id."""
        about = {"email": email, "role": role, "password_hash": "not a hash", "at": NOW, **about}
        return int(await self.store.write(workspaces.add_member, self.workspace_id, **about))

    async def sign_in(self, user_id: int | None = None, at: datetime = NOW) -> str:
        """Start a session, the owner's by default, and return its token."""
        return str((await self.store.write(sessions.start, user_id or self.owner_id, at=at)).token)

    async def decide(self, status: str, *commission_ids: Any, **about: Any) -> Any:
        """Decide on commissions one after the other, as the operator long after any hold; return the last one."""
        decided = None
        for each in commission_ids:
            about = {"at": NOW + timedelta(days=60), **about}
            decided = await self.do(commission_decisions.decide, each, CommissionStatus(status), **about)
        return decided

    async def flag(self, customer_id: int | None = None) -> int:
        """Flag a sign of fraud by Anna, about a customer or none, and return its id."""
        found = Finding(FlagKind.SHARED_CLICK, f"customer:{customer_id}", self.anna, NOW, {}, customer_id)
        await self.store.write(flagging.raise_each, [(self.program_id, found)], at=NOW)
        flag_id: int = (await self.listed(FLAGS)).data[0].id
        return flag_id

    async def listed(self, wanted: List[Any], **filters: Any) -> Page[Any]:
        """Return the newest rows of a list of the program."""
        return await self.store.read(find, wanted, ListScope(self.program_id, NOW), ListQuery(filters=filters))

    async def row(self, wanted: List[Any], row_id: int) -> Any:
        """Return a row of a list of the program."""
        return await self.store.read(get, wanted, ListScope(self.program_id, NOW), row_id)

    async def rows(self, table: Table) -> Sequence[Any]:
        """Return a table's rows of the program, in the order of their keys."""
        mine = select(table).where(table.c.program_id == self.program_id).order_by(*table.primary_key)
        return await self.store.read(lambda connection: connection.execute(mine).all())

    async def explain(self, at: datetime = NOW, **subject: Any) -> Any:
        """Explain a sale or a customer of the program."""
        return await self.store.read(explain, self.program_id, Subject(**subject), at=at)

    async def click(self, code: str = "anna", **fields: Any) -> Any:
        at = fields.pop("at", NOW)
        program_id = fields.pop("program_id", self.program_id)
        fields = {"click_id": keys.click_id(program_id, at), **fields}
        click = Click(program_id=program_id, code=code, landing_url=LANDING_PAGE, at=at, **fields)
        return await self.store.write_item(click.program_id, clicks.record, click)

    async def visitor(self, code: str = "anna", **fields: Any) -> str:
        clicked = await self.click(code, **fields)
        assert isinstance(clicked, ClickResult)
        return clicked.click_id

    async def lead(self, click_id: str | None = None, customer_key: str | None = None, **fields: Any) -> LeadResult:
        """Record a lead: the server's, or with `is_trusted=False` a browser's."""
        lead = Lead(click_id=click_id, customer_key=customer_key, **{"at": NOW, **fields})
        principal = None if lead.is_trusted else Public(lead.program_id or self.program_id)
        led: LeadResult = await self.handle(leads.record, lead, principal)
        return led

    async def customer(self, customer_key: str = "user-1", code: str = "anna", **fields: Any) -> str:
        """Make a settled customer of a partner and return their key."""
        await self.lead(await self.visitor(code, **fields), customer_key, **fields)
        return customer_key

    async def sale(self, transaction_id: str = "inv-1", amount_cents: int = 10_000, **fields: Any) -> SaleResult:
        """Record a sale of user-1 by default, with the program's key unless another `principal` is given."""
        principal = fields.pop("principal", None)
        fields = {"at": NOW, **fields}
        if "click_id" not in fields:
            fields.setdefault("customer_key", "user-1")
        sold: SaleResult = await self.handle(sales.record, Sale(transaction_id, amount_cents, **fields), principal)
        return sold


def password_hash(password: str) -> str:
    return _cheap.hash(password)


async def suspend(store: Storage, workspace_id: int, email: str) -> None:
    member = await store.read(members.get_member, workspace_id, email)
    await store.write(members.change, workspace_id, member.user_id, status=MemberStatus.SUSPENDED, by=BY)


async def acme(store: Storage, **settings: Any) -> World:
    """Create Acme with a program of these settings."""
    owner: dict[str, Any] = {"owner_email": "owner@acme.example", "password_hash": "not a hash", "at": NOW}
    return await program_of(store, *await store.write(workspaces.create, "Acme", **owner), **settings)


async def globex(store: Storage, **settings: Any) -> World:
    """Create another workspace, Gina's, with a program of these settings."""
    gina: dict[str, Any] = {"owner_email": "gina@globex.example", "password_hash": "not a hash", "at": NOW}
    return await program_of(store, *await store.write(workspaces.create, "Globex", **gina), **settings)


async def program_of(store: Storage, workspace_id: int, owner_id: int, **settings: Any) -> World:
    """Create a further program in a workspace, with its own key and its own Anna and Ben."""
    chosen = ProgramSettings(**{"name": "Acme partners", "domain": "acme.example", **settings})
    program_id = await store.write(program_settings.create, workspace_id, chosen, by=SETUP)
    new_key = await store.write(program_keys.regenerate, program_id, by=SETUP)
    two: Any = ({"name": "Anna", "code": "anna"}, {"name": "Ben", "code": "ben"})
    enrolled = [await store.write(partners.enrol, program_id, **each, by=SETUP) for each in two]
    return World(store, workspace_id, owner_id, program_id, new_key.api_token, enrolled[0].id, enrolled[1].id)


async def stored(acme: World, *columns: Any) -> list[Any]:
    """Return what a table's rows hold in some columns, in the order of their ids; a node returns rows in any order."""
    table = getattr(columns[0], "table", None)
    ids = [table.c.id] if table is not None and "id" in table.c else []
    found = select(*columns).order_by(*ids)
    return await acme.store.read(lambda connection: [tuple(row) for row in connection.execute(found)])


def account(connection: Connection, program_id: int, partner_id: int) -> dict[str, int]:
    """Return what the entries of a partner's account add up to, by kind."""
    entry = ledger_entries.c
    mine = (entry.program_id == program_id, entry.partner_id == partner_id, entry.kind.in_(ACCOUNT_KINDS))
    summed = select(entry.kind, func.sum(entry.amount_cents)).where(*mine).group_by(entry.kind)
    return {kind: int(cents) for kind, cents in connection.execute(summed)}
