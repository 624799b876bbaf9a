"""90 days of events of one sample program, recorded in chronological order by the real operations."""

import heapq
import random
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from storage.access import program_keys
from storage.engine.audit import SERVICE, Actor, By
from storage.engine.sealing import Sealer
from storage.management import by_hand, commission_decisions, partners, payout_methods, program_settings
from storage.rules import click_details, contact, keys
from storage.rules.attribution import PartnerStatus
from storage.rules.click_details import Agent, Location
from storage.rules.commission import CommissionStatus
from storage.rules.fraud.flag import Finding, FlagKind
from storage.rules.payout import MethodKind
from storage.rules.settings import ProgramSettings
from storage.rules.settlement import LeadAuthPolicy
from storage.tables import commissions as earned
from storage.tracking import clicks, flagging, leads, program_terms, received_calls, refunds, sales, test_mode
from storage.tracking.sale_decisions import Sale, SaleResult

DAYS = 90
STEP = timedelta(hours=6)
LAST_PAID = 45  # the day; what was earned since then is to be paid
SAMPLE = tomllib.loads(Path(__file__).with_name("sample.toml").read_text(encoding="utf-8"))
PARTNERS = SAMPLE["partners"]


@dataclass
class History:
    """The 90 days of one of the sample's shops; an event can schedule later ones."""

    connection: Connection
    workspace_id: int
    owner: Actor
    shop: dict[str, Any]
    start: datetime
    sealer: Sealer

    def __post_init__(self) -> None:
        by = By(self.owner, self.start)
        self.settings = ProgramSettings(**self.shop["settings"])
        self.program_id = program_settings.create(self.connection, self.workspace_id, self.settings, by=by)
        self.key = program_keys.regenerate(self.connection, self.program_id, by=By(SERVICE, self.start)).api_token
        self._random = random.Random(self.program_id)  # noqa: S311 - sample data, not a secret
        self._hashes = contact.AddressHashes(lambda: self.key)
        self._partner_ids: dict[str, int] = {}  # by code
        self._due: list[tuple[datetime, int, Callable[[datetime], object]]] = []
        self._numbers = count(1)
        for kind in ("click", "lead", "sale"):
            test_mode.record_with_key(self.connection, [(self._terms, test_mode.TestModeCall(kind, self.start))])

    @property
    def _terms(self) -> program_terms.ProgramTerms:
        return program_terms.load_one(self.connection, self.program_id)

    def record(self, begin: datetime, end: datetime) -> None:
        """Record the events of a quarter of a day in order: fewer at night and at weekends, more every month."""
        day = (begin - self.start).days
        if begin.hour == 0:
            self._manage(begin, day)
        busy = SAMPLE["week"][begin.weekday()] * SAMPLE["day"][begin.hour // 6] * (end - begin) / STEP
        growth = (0.6 + 0.8 * day / DAYS) * self._random.uniform(0.75, 1.25)
        codes = list(self._partner_ids)  # in the order of PARTNERS
        weights = [weight for *_, weight in PARTNERS[: len(codes)]]
        for code in self._random.choices(codes, weights, k=round(self.shop["clicks_a_day"] / 4 * growth * busy)):
            self._later(begin + (end - begin) * self._random.random(), partial(self._visit, code))
        while self._due and self._due[0][0] < end:
            at, _, happen = heapq.heappop(self._due)
            happen(at)

    def _manage(self, at: datetime, day: int) -> None:
        """Let partners join further and further apart, reject one commission in 15, and at first pay the others."""
        by = By(self.owner, at)
        for number, (name, code, _) in enumerate(PARTNERS):
            if day == number * number:
                who: dict[str, Any] = {"name": name, "code": code, "email": f"{code}@partners.example"}
                self._partner_ids[code] = partners.enrol(self.connection, self.program_id, **who, by=by).id
        if day == 12:  # noqa: PLR2004 - one day
            program_settings.change(self.connection, self.program_id, {"cookie_window_days": 90}, by=by)
        self._change_balances(at, day)
        if day == 75:  # noqa: PLR2004 - another
            left = self._partner_ids["toms-toolbox"]
            partners.change(self.connection, self.program_id, left, {"status": PartnerStatus.PAUSED}, by=by)
        row = earned.c
        mine = select(row.id, row.status).where(row.program_id == self.program_id, row.hold_until <= at)
        decided: dict[CommissionStatus, list[int]] = {}
        for commission in self.connection.execute(mine.order_by(row.id)).all():
            if commission.status == CommissionStatus.PENDING:
                status = CommissionStatus.REJECTED if self._happens(1 / 15) else CommissionStatus.APPROVED
                decided.setdefault(status, []).append(commission.id)
            elif commission.status == CommissionStatus.APPROVED and at.weekday() == 0 and day <= LAST_PAID:
                decided.setdefault(CommissionStatus.PAID, []).append(commission.id)
        for status, ids in decided.items():
            commission_decisions.decide_each(self.connection, self.program_id, ids, status, by=by)

    def _change_balances(self, at: datetime, day: int) -> None:
        """Say how partners are paid; in the end one owes something back, and the refunds of another are flagged."""
        by = By(self.owner, at)
        for code, method in SAMPLE["methods"].get(str(day), {}).items():
            details = {name: value for name, value in method.items() if name != "kind"}
            sent = (self._partner_ids[code], MethodKind(method["kind"]), details)
            payout_methods.change(self.connection, self.program_id, *sent, sealer=self.sealer, by=by)
        if day == 88:  # noqa: PLR2004 - one day
            for code, cents in SAMPLE["owing"].items():
                owed = {"partner_id": self._partner_ids[code], "amount_cents": cents, "reason": "Paid twice in June"}
                by_hand.adjust(self.connection, self.program_id, **owed, by=by)
            for code, evidence in SAMPLE["refunds"].items():
                about_partner = (f"partner:{code}", self._partner_ids[code], self.start, evidence)
                found = Finding(FlagKind.UNUSUAL_REFUND_RATE, *about_partner)
                flagging.raise_each(self.connection, [(self.program_id, found)], at=at)

    def _visit(self, code: str, at: datetime) -> None:
        """Record a click, which may lead to a sign-up: one in 25 comes from a bot."""
        choose, is_bot = self._random.choice, self._happens(0.04)
        landing = f"https://{self.settings.domain}/{choose(SAMPLE['pages'])}?aff={code}"
        referrer = choose(SAMPLE["referrers"]) or None
        agent, place, language = choose(SAMPLE["visitors"])
        campaign = choose(SAMPLE["campaigns"])
        network = f"81.{self._random.randrange(256)}.{self._random.randrange(16)}.1"  # one of four thousand
        tagged = f"{landing}&utm_source=newsletter&utm_campaign={campaign}" if campaign else landing
        about: dict[str, Any] = {"page_url": landing, "referrer_url": referrer, "filtered": "bot" if is_bot else None}
        about |= {"referrer_host": click_details.referrer_host(referrer), "address_hash": self._hashes.of(network, at)}
        about["dimensions"] = click_details.describe(tagged, Agent(*agent), Location(*place), language)
        click = clicks.Click(self.program_id, code, landing, at, keys.click_id(self.program_id, at), **about)
        clicked = clicks.record(self.connection, [click])[0]
        if isinstance(clicked, clicks.ClickResult) and not is_bot and self._happens(self.shop["signs_up"]):
            self._later(self._within(at, days=6), partial(self._sign_up, clicked.click_id))

    def _sign_up(self, click_id: str, at: datetime) -> None:
        """Record a lead: one in eight comes only from the browser and may stay provisional."""
        customer = f"user_{next(self._numbers)}"
        is_trusted = not self._happens(1 / 8)
        who = contact.protect(f"{customer}@mail.example")
        lead = leads.Lead(click_id, customer, at, is_trusted=is_trusted, contact=who)
        leads.record(self.connection, [(self._terms, lead)])
        is_settled = is_trusted or self.settings.lead_auth_policy == LeadAuthPolicy.BROWSER_ALLOWED
        if self._happens(self.shop["buys"]) and (is_settled or self._happens(0.5)):
            cents = self._random.choice(self.shop["prices"])
            self._later(self._within(at, days=9), partial(self._buy, customer, click_id, cents))

    def _buy(self, customer: str, click_id: str | None, cents: int, at: datetime) -> None:
        """Record a sale. One in twenty goes back, half of them in part; one in a hundred is sent twice, or is lost."""
        number = next(self._numbers)
        sale = Sale(f"inv_{number:06}", cents, at, customer_key=customer, click_id=click_id)
        if not self._sell(sale, at):
            return
        chance = self._random.random()
        if chance < 0.05:  # noqa: PLR2004 - one in twenty
            part = None if chance < 0.025 else cents // 3  # noqa: PLR2004 - half of them
            self._later(self._within(at, days=12), partial(self._refund, sale.transaction_id, part))
        elif chance < 0.06:  # noqa: PLR2004 - one in a hundred
            self._later(self._within(at, hours=2), partial(self._sell, sale))
        elif chance < 0.07:  # noqa: PLR2004 - one in a hundred comes with an unknown customer key
            self._later(at, partial(self._buy, f"guest-{number}", None, cents))
        if self._happens(self.shop["renews"]):
            self._later(at + timedelta(days=30), partial(self._buy, customer, click_id, cents))

    def _sell(self, sale: Sale, at: datetime) -> bool:
        """Record a sale and return whether it counts; an error goes into the log of rejected calls."""
        recorded = sales.record(self.connection, [(self._terms, sale._replace(at=at))])[0]
        if isinstance(recorded, SaleResult):
            return True
        request_id = f"{self._random.getrandbits(64):016x}"
        call = received_calls.Call(received_calls.PresentedKey(""), sale, "sale", request_id, at, sale._asdict)
        holder = received_calls.NO_HOLDER._replace(program_id=self.program_id)
        received_calls.log(self.connection, [(holder, call, recorded)])
        return False

    def _refund(self, transaction_id: str, cents: int | None, at: datetime) -> None:
        refund = refunds.Refund(transaction_id, at, cents, reason="requested_by_customer")
        refunds.record(self.connection, [(self._terms, refund)])

    def _later(self, at: datetime, happen: Callable[[datetime], object]) -> None:
        heapq.heappush(self._due, (at, next(self._numbers), happen))

    def _within(self, at: datetime, **longest: float) -> datetime:
        return at + timedelta(minutes=3) + timedelta(**longest) * self._random.random() ** 2

    def _happens(self, chance: float) -> bool:
        return self._random.random() < chance
