"""90 days of events of one sample program, recorded in chronological order by the real operations."""

import heapq
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.access import program_keys
from storage.engine.audit import Actor
from storage.lists.partners import ids_of_name
from storage.management import commission_decisions, partners, program_settings
from storage.rules import click_details, contact, keys
from storage.rules.attribution import PartnerStatus
from storage.rules.click_details import Agent, Location
from storage.rules.commission import CommissionStatus
from storage.rules.settings import ProgramSettings
from storage.rules.settlement import LeadAuthPolicy
from storage.tables import commissions as earned
from storage.tracking import clicks, leads, program_terms, refunds, rejection_log, sales, test_mode
from storage.tracking.clicks import Click, ClickResult
from storage.tracking.lead_decisions import Lead
from storage.tracking.program_terms import ProgramTerms
from storage.tracking.refunds import Refund
from storage.tracking.rejection_log import CallDetails, Rejection
from storage.tracking.sale_decisions import Sale, SaleResult
from storage.tracking.test_mode import TestModeCall

DAYS = 90
STEP = timedelta(hours=6)
PARTNERS = [
    ("Nora Lindqvist", "nora", 9),
    ("Tom's Toolbox Reviews", "toms-toolbox", 7),
    ("Amara Okafor", "amara", 5),
    ("Jules Marchand", "jules", 4),
    ("The Side Project Letter", "sideproject", 4),
    ("Kenji Watanabe", "kenji", 3),
    ("Lucía Romero", "lucia", 2),
    ("Pieter de Vries", "pieter", 1),
]
PAGES = ("", "", "pricing", "guides/getting-started", "blog/what-is-new")
REFERRERS = (None, None, "https://news.example/weekly", "https://search.example/", "https://video.example/watch")
VISITORS = (
    (Agent("mobile", "Safari", "iOS"), Location("US", "US-CA"), "en"),
    (Agent("desktop", "Chrome", "Windows"), Location("DE", "DE-BE"), "de"),
    (Agent("desktop", "Firefox", "Linux"), Location("SE", "SE-AB"), "sv"),
    (Agent("mobile", "Chrome", "Android"), Location("GB", "GB-ENG"), "en"),
    (Agent("tablet", "Safari", "iOS"), Location("ES", "ES-MD"), "es"),
)
CAMPAIGNS = (None, None, "spring", "launch")
WEEK = (1.0, 1.08, 1.05, 1.0, 0.86, 0.52, 0.6)
DAY = (0.3, 1.1, 1.5, 1.1)  # the night, the morning, the afternoon, the evening


class Shop(NamedTuple):
    """The differences of the sample programs: `prices` in cents, chances from 0 to 1."""

    settings: ProgramSettings
    clicks_a_day: int
    signs_up: float
    buys: float
    renews: float
    prices: tuple[int, ...]


class History:
    """One program's 90 days; an event can schedule later ones."""

    def __init__(self, connection: Connection, workspace_id: int, owner: Actor, shop: Shop, start: datetime) -> None:
        self.shop = shop
        self.program_id = program_settings.create(connection, workspace_id, shop.settings, at=start, actor=owner)
        self.key = program_keys.regenerate(connection, self.program_id, at=start).secret
        self._connection = connection
        self._owner = owner
        self._start = start
        self._chance = random.Random(self.program_id)  # noqa: S311 - sample data, not a secret
        self._networks = random.Random(self.program_id)  # noqa: S311 - as above
        self._visitors = random.Random(self.program_id)  # noqa: S311 - as above
        self._hashes = contact.AddressHashes(lambda: self.key)
        self._due: list[tuple[datetime, int, Callable[..., None], tuple[Any, ...]]] = []
        self._numbers = count(1)
        for kind in ("click", "lead", "sale"):
            test_mode.record_with_key(connection, [(self._terms, TestModeCall(kind, start))])
        for number, (name, code, _) in enumerate(PARTNERS):
            self._later(start + timedelta(days=number * number), self._enrol, name, code)
        self._later(start + timedelta(days=12, hours=9), self._change, {"cookie_window_days": 90})
        self._later(start + timedelta(days=75, hours=14), self._pause, "toms-toolbox")

    @property
    def _terms(self) -> ProgramTerms:
        return program_terms.load_one(self._connection, self.program_id)

    def record(self, begin: datetime, end: datetime) -> None:
        """Record the events between two timestamps in chronological order, including the clicks of these hours."""
        for at, code in self._visits(begin, end):
            self._later(at, self._visit, code)
        while self._due and self._due[0][0] < end:
            at, _, happen, about = heapq.heappop(self._due)
            happen(at, *about)
        if begin.hour == 0:
            self._decide(begin)

    def _later(self, at: datetime, happen: Callable[..., None], *about: Any) -> None:
        heapq.heappush(self._due, (at, next(self._numbers), happen, about))

    def _after(self, at: datetime, **longest: float) -> datetime:
        return at + timedelta(minutes=3) + timedelta(**longest) * self._chance.random() ** 2

    def _enrol(self, at: datetime, name: str, code: str) -> None:
        email = f"{code}@partners.example"
        partners.enrol(self._connection, self.program_id, name=name, code=code, email=email, at=at, actor=self._owner)

    def _change(self, at: datetime, changes: dict[str, Any]) -> None:
        program_settings.change(self._connection, self.program_id, changes, actor=self._owner, at=at)

    def _pause(self, at: datetime, code: str) -> None:
        [partner_id] = ids_of_name(self._connection, self.program_id, code)
        changes = {"status": PartnerStatus.PAUSED}
        partners.change(self._connection, self.program_id, partner_id, changes, actor=self._owner, at=at)

    def _visits(self, begin: datetime, end: datetime) -> list[tuple[datetime, str]]:
        """Draw the visits of a quarter of a day: fewer at night and at weekends, more from month to month."""
        growth = 0.6 + 0.8 * (begin - self._start).days / DAYS
        busy = WEEK[begin.weekday()] * DAY[begin.hour // 6] * (end - begin) / STEP
        number = round(self.shop.clicks_a_day / 4 * growth * busy * self._chance.uniform(0.75, 1.25))
        joined = [partner for n, partner in enumerate(PARTNERS) if begin > self._start + timedelta(days=n * n)]
        if not joined:
            return []
        codes = self._chance.choices([code for _, code, _ in joined], [weight for *_, weight in joined], k=number)
        return [(begin + (end - begin) * self._chance.random(), code) for code in codes]

    def _visit(self, at: datetime, code: str) -> None:
        """Record a click, which may lead to a sign-up: one in 25 comes from a bot."""
        bot = self._chance.random() < 0.04  # noqa: PLR2004 - one in 25
        page, referrer = self._chance.choice(PAGES), self._chance.choice(REFERRERS)
        landing = f"https://{self.shop.settings.domain}/{page}?aff={code}"
        network = f"81.{self._networks.randrange(256)}.{self._networks.randrange(16)}.1"  # one of four thousand
        about: dict[str, Any] = {"page_url": landing, "referrer_url": referrer, "filtered": "bot" if bot else None}
        (agent, place, language), campaign = self._visitors.choice(VISITORS), self._visitors.choice(CAMPAIGNS)
        tagged = f"{landing}&utm_source=newsletter&utm_campaign={campaign}" if campaign else landing
        described = click_details.describe(tagged, agent, place, language)
        details = click_details.read(landing, referrer, self._hashes.of(network, at), described)
        new_id = keys.click_id(self.program_id, at)
        click = Click(self.program_id, code, landing, at, new_id, details=details, **about)
        clicked = clicks.record(self._connection, [click])[0]
        if isinstance(clicked, ClickResult) and not bot and self._chance.random() < self.shop.signs_up:
            self._later(self._after(at, days=6), self._sign_up, clicked.click_id)

    def _sign_up(self, at: datetime, click_id: str) -> None:
        """Record a lead: one in eight comes only from the browser and may stay provisional."""
        customer = f"user_{next(self._numbers)}"
        browser = self._chance.random() < 1 / 8
        who = contact.protect(f"{customer}@mail.example")
        lead = Lead(click_id, customer, at, is_trusted=not browser, contact=who)
        leads.record(self._connection, [(self._terms, lead)])
        settled = not browser or self.shop.settings.lead_auth_policy == LeadAuthPolicy.BROWSER_ALLOWED
        if self._chance.random() < self.shop.buys and (settled or self._chance.random() < 0.5):  # noqa: PLR2004 - half
            self._later(self._after(at, days=9), self._buy, customer, click_id, self._chance.choice(self.shop.prices))

    def _buy(self, at: datetime, customer: str, click_id: str, cents: int) -> None:
        number = next(self._numbers)
        sale = Sale(f"inv_{number:06}", cents, at, customer_key=customer, click_id=click_id)
        if not self._record(sale):
            return
        chance = self._chance.random()
        if chance < 0.05:  # noqa: PLR2004 - one sale in twenty goes back, half of them in part
            part = None if chance < 0.025 else cents // 3  # noqa: PLR2004 - as above
            self._later(self._after(at, days=12), self._refund, sale.transaction_id, part)
        elif chance < 0.06:  # noqa: PLR2004 - one in a hundred is sent twice
            self._later(self._after(at, hours=2), self._repeat, sale)
        elif chance < 0.07:  # noqa: PLR2004 - and one in a hundred comes with an unknown customer key
            self._later(at, self._buy, f"guest-{number}", None, cents)
        if self._chance.random() < self.shop.renews:
            self._later(at + timedelta(days=30), self._buy, customer, click_id, cents)

    def _repeat(self, at: datetime, sale: Sale) -> None:
        self._record(sale._replace(at=at))

    def _record(self, sale: Sale) -> bool:
        """Record a sale and return whether it counts; an error goes into the log of rejected calls."""
        recorded = sales.record(self._connection, [(self._terms, sale)])[0]
        if isinstance(recorded, SaleResult):
            return True
        details = CallDetails("sale", f"{self._chance.getrandbits(64):016x}", sale.at, sale._asdict)
        rejection_log.append(self._connection, [Rejection(self.program_id, details, recorded)])
        return False

    def _refund(self, at: datetime, transaction_id: str, cents: int | None) -> None:
        refund = Refund(transaction_id, at, cents, reason="requested_by_customer")
        refunds.record(self._connection, [(self._terms, refund)])

    def _decide(self, at: datetime) -> None:
        """Approve commissions after their hold period, reject one in fifteen, pay approved ones on Mondays."""
        row = earned.c
        mine = select(row.id, row.status).where(row.program_id == self.program_id, row.hold_until <= at)
        open_ = mine.where(row.status.in_([CommissionStatus.PENDING, CommissionStatus.APPROVED]))
        decided: dict[CommissionStatus, list[int]] = {}
        for commission in self._connection.execute(open_.order_by(row.id)).all():
            if commission.status == CommissionStatus.PENDING:
                rejected = self._chance.random() < 1 / 15
                status = CommissionStatus.REJECTED if rejected else CommissionStatus.APPROVED
            elif at.weekday() == 0:
                status = CommissionStatus.PAID
            else:
                continue
            decided.setdefault(status, []).append(commission.id)
        for status, ids in decided.items():
            commission_decisions.decide_each(self._connection, self.program_id, ids, status, actor=self._owner, at=at)
