"""A believable workspace for `svc demo`: 90 days of events, made through the real operations in the order of time."""

import asyncio
import random
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage import (
    Storage,
    agent_keys,
    clicks,
    commissions,
    leads,
    partners,
    passwords,
    program_keys,
    program_settings,
    refunds,
    refusals,
    sales,
    workspaces,
)
from storage.clicks import Click
from storage.leads import Lead
from storage.program_settings import Settings
from storage.refunds import Refund
from storage.refusals import RefusedCall
from storage.rules import contact, keys
from storage.rules.commission import CommissionStatus
from storage.rules.errors import CustomerNotFound, InvalidJson
from storage.rules.scope import Scope
from storage.sales import Sale
from storage.tables import commissions as commission_table
from storage.workspaces import Role

DAYS = 90
PARTNERS = ("Anna Lindqvist", "Ben Okafor", "Chloé Martin", "Diego Ramos", "Emi Sato", "Farid Haddad", "Grace Hill")
PAGES = ("/", "/pricing", "/blog/how-we-ship", "/compare", "/features/reports")
REFERRERS = ("https://www.youtube.com/", "https://news.ycombinator.com/", "https://www.reddit.com/", None, None)
PLANS = ((1_900, "starter"), (4_900, "team"), (9_900, "business"), (24_900, "annual"))
CRAWLER = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"


class Sample(NamedTuple):
    """What a visitor of the demo needs; the secrets belong to a database that ends with the demo."""

    owner_email: str
    member_email: str
    password: str
    program_ids: list[int]
    program_key: str
    agent_key: str


class _Program(NamedTuple):
    id: int
    key_hash: str
    domain: str
    codes: list[str]


async def create(store: Storage, *, at: datetime, seed: int = 7) -> Sample:
    """Fill an empty database with a workspace whose last 90 days end at `at`; the same seed gives the same events."""
    chance = random.Random(seed)  # noqa: S311 - sample data, not secrets
    password = keys.generate("")[:16]
    hashed = passwords.protect(password)
    start = at - timedelta(days=DAYS)
    owner = await store.write(
        workspaces.create, "Northwind", owner_email="owner@demo.example", password_hash=hashed, at=start
    )
    member = {"email": "member@demo.example", "role": Role.MEMBER, "password_hash": hashed}
    await store.write(workspaces.add_member, owner.workspace_id, **member, at=start)
    plans = (
        Settings("Northwind Analytics", "northwind.example", recurring_months=12),
        Settings("Northwind Academy", "academy.example", rate=1_250, lead_commission_cents=150),
    )
    secrets_ = {}
    made = []
    for plan in plans:
        program_id = await store.write(program_settings.create, owner.workspace_id, plan, at=start)
        secrets_[program_id] = (await store.write(program_keys.regenerate, program_id, at=start)).secret
        codes = await _enrol(store, program_id, chance, start)
        made.append(_Program(program_id, keys.digest(secrets_[program_id]), plan.domain, codes))
    for number, program in enumerate(made):
        await _History(store, program, chance, busy=1.0 - 0.6 * number).play(start, at)
    scopes = [scope for scope in Scope if scope.endswith(":read")]
    agent = await store.write(agent_keys.issue, owner.workspace_id, name="Demo assistant", scopes=scopes, at=at)
    first = made[0].id
    return Sample("owner@demo.example", "member@demo.example", password, list(secrets_), secrets_[first], agent.secret)


async def _enrol(store: Storage, program_id: int, chance: random.Random, start: datetime) -> list[str]:
    codes = []
    for number, name in enumerate(PARTNERS):
        code = name.split()[0].lower().replace("é", "e")
        joined_at = start + timedelta(days=0 if number < 3 else chance.randrange(60))  # noqa: PLR2004 - three founders
        email = f"{code}@partners.example"
        await store.write(partners.enrol, program_id, name=name, code=code, email=email, at=joined_at)
        codes.append(code)
    return codes


class _History:
    """One program's events, day by day."""

    def __init__(self, store: Storage, program: _Program, chance: random.Random, *, busy: float) -> None:
        self._store = store
        self._program = program
        self._chance = chance
        self._busy = busy
        self._number = 0
        self._due: dict[int, list[tuple[str, int]]] = {}

    async def play(self, start: datetime, end: datetime) -> None:
        """Play every day: clicks, then leads, then the sales and refunds that are due."""
        for day in range(DAYS + 1):
            morning = (start + timedelta(days=day)).replace(hour=0, minute=0)
            visitors = await self._visits(day, morning, end)
            await self._signups(day, visitors, end)
            await self._payments(day, morning, end)
        await self._decide(end)
        await self._refusals(end)

    async def _visits(self, day: int, morning: datetime, end: datetime) -> list[tuple[str, datetime]]:
        weekday = 0.55 if morning.weekday() >= 5 else 1.0  # noqa: PLR2004 - Saturday
        count = int(self._busy * weekday * (30 + day * 0.6) * self._chance.uniform(0.8, 1.25))
        times = sorted(morning + timedelta(seconds=self._chance.triangular(0, 86_399, 54_000)) for _ in range(count))
        visits = [self._click(time) for time in times if time < end]
        found = await asyncio.gather(*(self._store.write(clicks.record, visit) for visit in visits))
        return [
            (clicked.click_id, visit.at) for clicked, visit in zip(found, visits, strict=True) if not visit.filtered
        ]

    def _click(self, at: datetime) -> Click:
        weights = [9, 6, 5, 3, 2, 1, 1]
        page = self._chance.choice(PAGES)
        code = self._chance.choices(self._program.codes, weights)[0]
        return Click(
            program_id=self._program.id,
            code=code,
            landing_url=f"https://{self._program.domain}{page}?aff={code}",
            at=at,
            filtered="bot" if self._chance.random() < 0.03 else None,  # noqa: PLR2004 - one in thirty
            page_url=f"https://{self._program.domain}{page}",
            page_title=page.strip("/").replace("-", " ").title() or "Home",
            referrer_url=self._chance.choice(REFERRERS),
        )

    async def _signups(self, day: int, visitors: list[tuple[str, datetime]], end: datetime) -> None:
        for click_id, clicked_at in visitors:
            at = clicked_at + timedelta(minutes=self._chance.randrange(2, 90))
            roll = self._chance.random()
            if roll > 0.09 or at >= end:  # noqa: PLR2004 - nine in a hundred sign up
                continue
            self._number += 1
            name = f"user-{self._program.id}{self._number:04}"
            confirmed = roll > 0.006  # noqa: PLR2004 - a few are confirmed by nobody
            lead = Lead(
                click_id,
                name,
                at,
                key_hash=self._program.key_hash if confirmed else None,
                contact=contact.protect(f"{name}@example.com"),
            )
            await self._store.write(leads.record, lead)
            if confirmed and self._chance.random() < 0.42:  # noqa: PLR2004 - two in five buy
                cents, plan = self._chance.choice(PLANS)
                months = 1 if plan == "annual" else 3
                first = day + self._chance.randrange(7)
                for month in range(months):
                    self._due.setdefault(first + 30 * month, []).append((name, cents))

    async def _payments(self, day: int, morning: datetime, end: datetime) -> None:
        for name, cents in self._due.get(day, []):
            at = morning + timedelta(hours=23, minutes=self._chance.randrange(55))
            if at >= end:
                continue
            transaction_id = f"inv_{self._program.id}{day:03}{name[-4:]}"
            sale = Sale(self._program.key_hash, transaction_id, cents, at, customer_key=name)
            await self._store.write(sales.record, sale)
            if self._chance.random() < 0.06:  # noqa: PLR2004 - one in seventeen
                part = self._chance.choice([None, cents // 2])
                back = Refund(
                    self._program.key_hash, transaction_id, at + timedelta(minutes=4), part, f"re_{day}{name}"
                )
                await self._store.write(refunds.record, back)

    async def _decide(self, end: datetime) -> None:
        for commission in await self._store.read(_pending, self._program.id):
            age_days = (end - commission.created_at).days
            if age_days < 20:  # noqa: PLR2004 - still on hold, or just past it
                continue
            steps = [CommissionStatus.APPROVED, CommissionStatus.PAID] if age_days > 45 else [CommissionStatus.APPROVED]  # noqa: PLR2004
            for step in [CommissionStatus.REJECTED] if self._chance.random() < 0.03 else steps:  # noqa: PLR2004
                await self._store.write(commissions.change_status, self._program.id, commission.id, step, at=end)

    async def _refusals(self, end: datetime) -> None:
        for number in range(6):
            at = end - timedelta(hours=4 * number + 1)
            unknown = RefusedCall(self._program.key_hash, "sale", CustomerNotFound(), 400, f"demo{number:012}", at)
            call = unknown._replace(customer_key=f"cus_{number}Fq2", transaction_id=f"inv_lost_{number}")
            malformed = unknown._replace(refusal=InvalidJson())
            await self._store.write(refusals.record, malformed if number == 5 else call)  # noqa: PLR2004 - the last


def _pending(connection: Connection, program_id: int) -> list[Any]:
    mine = commission_table.c.program_id == program_id
    pending = commission_table.c.status == CommissionStatus.PENDING
    return list(connection.execute(select(commission_table).where(mine, pending)).all())
