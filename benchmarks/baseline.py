"""The baseline: clicks and sales as most first versions have them, one ORM session and one commit for each call.

It runs over the service's own tables with the same durability, and does the same reads, checks and writes.
"""

import json
import os
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sqlalchemy import Table, event, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from storage import tables
from storage.engine import ids
from storage.engine.database import is_sqlite, parse_url
from storage.rules import keys
from storage.tables.columns import metadata
from web import garbage


class Base(DeclarativeBase):
    metadata = metadata


def mapped(table: Table) -> Any:
    """Return the ORM class of one of the service's tables."""
    return type(table.name, (Base,), {"__table__": table})


Program, Terms, ProgramKey = mapped(tables.programs), mapped(tables.commission_terms), mapped(tables.program_keys)
Partner, Customer, Click = mapped(tables.partners), mapped(tables.customers), mapped(tables.clicks)
Sale, Commission, Entry = mapped(tables.sales), mapped(tables.commissions), mapped(tables.ledger_entries)

_url = parse_url(os.environ["SVC_DATABASE_URL"])
# SQLite gets one connection: two are no faster, five make some calls wait twice as long for the one write lock.
_engine = create_async_engine(_url, **({"pool_size": 1, "max_overflow": 0} if is_sqlite(_url) else {}))
_sessions = async_sessionmaker(_engine)
_insert = sqlite.insert if is_sqlite(_url) else postgresql.insert

if is_sqlite(_url):

    @event.listens_for(_engine.sync_engine, "connect")
    def _prepare(raw: Any, _: object) -> None:
        raw.isolation_level = None
        cursor = raw.cursor()
        for pragma in ("busy_timeout = 30000", "foreign_keys = ON", "journal_mode = WAL", "synchronous = FULL"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(_engine.sync_engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


async def click(request: Request) -> JSONResponse:
    body = await request.json()
    code = parse_qs(urlsplit(body["affiliate_url"]).query)["aff"][0]
    at = datetime.now(UTC)
    async with _sessions() as session:
        program = await session.get_one(Program, body["program_id"])
        enrolled = select(Partner).where(Partner.program_id == program.id, Partner.code == code)
        partner = (await session.scalars(enrolled)).one()
        click_id = keys.click_id(program.id, at)
        session.add(
            Click(
                program_id=program.id,
                click_id=click_id,
                partner_id=partner.id,
                at=at,
                landing_url=body["affiliate_url"],
                page_url=body.get("page_url"),
                page_title=body.get("page_title"),
                referrer_url=body.get("referrer_url"),
                visitor=json.dumps({"user_agent": request.headers["user-agent"]}),
            )
        )
        await _step(session, program.id, partner.id, at, clicks=1)
        await session.commit()
    answer = {"success": True, "click_id": click_id, "partner_code": code}
    return JSONResponse({**answer, "cookie_window_days": 60})


async def sale(request: Request) -> JSONResponse:
    body = await request.json()
    at = datetime.now(UTC)
    presented = keys.digest(request.headers["authorization"].removeprefix("Bearer "))
    async with _sessions() as session:
        key = (await session.scalars(select(ProgramKey).where(ProgramKey.key_hash == presented))).one()
        program = await session.get_one(Program, key.program_id)
        terms = await session.get_one(Terms, (program.id, program.terms_version))
        named = select(Customer).where(Customer.program_id == program.id, Customer.customer_key == body["customer_key"])
        customer = (await session.scalars(named)).one()
        first = customer.first_purchase_at is None
        same = select(Sale).where(Sale.program_id == program.id, Sale.transaction_id == body["transaction_id"])
        if (await session.scalars(same)).one_or_none() is not None:
            return JSONResponse({"success": False}, status_code=409)
        cents = body["amount_cents"]
        commission_cents = cents * terms.rate // 10_000
        sale_id, entry_id, fee_id = ids.after(at, 3)
        session.add(_sale(body, customer, program, sale_id, at))
        session.add(_commission(customer, program, terms, sale_id, commission_cents, at))
        await session.flush()
        fee_cents = cents * terms.platform_fee_bps // 10_000
        for kind, number, amount in (("commission", entry_id, commission_cents), ("platform_fee", fee_id, fee_cents)):
            entry = {"program_id": program.id, "commission_id": sale_id, "id": number, "kind": kind}
            session.add(Entry(**entry, partner_id=customer.partner_id, amount_cents=amount, at=at))
        if first:
            customer.first_purchase_at, customer.status = at, "conversion"
            customer.revision += 1
        await _step(
            session,
            program.id,
            customer.partner_id,
            at,
            sales=1,
            conversions=int(first),
            revenue_cents=cents,
            commission_cents=commission_cents,
        )
        await session.commit()
    data = {"eventId": sale_id, "commission_id": sale_id, "commission_cents": commission_cents}
    return JSONResponse({"success": True, "message": "Sale recorded.", "data": data})


def _sale(body: Any, customer: Any, program: Any, sale_id: int, at: datetime) -> Any:
    return Sale(
        program_id=program.id,
        id=sale_id,
        transaction_id=body["transaction_id"],
        customer_id=customer.id,
        partner_id=customer.partner_id,
        amount_cents=body["amount_cents"],
        program_cents=body["amount_cents"],
        currency=body["currency"],
        customer_key=body["customer_key"],
        payload_hash=keys.digest(repr(body)),
        occurred_at=at,
        at=at,
    )


def _commission(  # noqa: PLR0917 - what a row holds
    customer: Any, program: Any, terms: Any, sale_id: int, cents: int, at: datetime
) -> Any:
    return Commission(
        program_id=program.id,
        id=sale_id,
        partner_id=customer.partner_id,
        customer_id=customer.id,
        sale_id=sale_id,
        terms_version=terms.version,
        amount_cents=cents,
        currency=program.currency,
        status="pending",
        created_at=at,
        hold_until=at + timedelta(days=program.hold_days),
    )


async def _step(session: AsyncSession, program_id: int, partner_id: int, at: datetime, **steps: int) -> None:
    key = {"program_id": program_id, "day": at.date()}
    for table, keyed in ((tables.rollups, key), (tables.partner_rollups, {**key, "partner_id": partner_id})):
        row = _insert(table).values(**keyed, **steps)
        added = {name: table.c[name] + step for name, step in steps.items()}
        await session.execute(row.on_conflict_do_update(index_elements=list(keyed), set_=added))


app = Starlette(routes=[Route("/click", click, methods=["POST"]), Route("/sale", sale, methods=["POST"])])
garbage.settle()
