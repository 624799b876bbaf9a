"""What writes cost: clicks and sales, by the rows, programs, workers and nodes there are, and the memory they take."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks import calls, servers, world
from benchmarks.calls import RECORDED
from benchmarks.load import Driver
from benchmarks.results import Line, Plan, Subject, at_most, compare
from benchmarks.servers import SQLITE, running
from storage import tables
from tests import citus, needs, postgres

BARE = "bare Starlette route"
CUSTOMERS, LEADS = 1_000, 50_000
FEW_CLICKS = 10_000
STEPS, MOST_MB = 20, 20  # of a run that looks for growing memory


async def tracking(plan: Plan, on: str = SQLITE) -> list[Line]:
    """Measure durable clicks, sales, leads and refunds; the tables must then hold every call that was answered."""
    click, sale, keyed = f"click, {on}", f"sale, {on}", f"sale with an Idempotency-Key, {on}"
    with servers.databases(on) as databases, running("ceilings:bare") as ceiling:
        url = await databases.create("service")
        shop = await world.create(url, customers=CUSTOMERS)
        click_ids = await world.load_clicks(url, shop, LEADS, datetime.now(UTC) - timedelta(days=9), carried_by=LEADS)
        with running("service", url) as service:
            clicks, sales, euros, keyed_sales, leads, refunds = (
                Driver(service, requests, RECORDED, databases.pids)
                for requests in (
                    *(calls.clicks(shop), calls.sales(shop), calls.sales(shop, currency="EUR")),
                    *(calls.sales(shop, keyed=True), calls.leads(shop, click_ids), calls.refunds(shop)),
                )
            )
            subjects = {
                BARE: Subject(Driver(ceiling, calls.clicks(shop, "/echo"))),
                click: Subject(clicks, {BARE: 0.8 if on == SQLITE else 0.6}, p99_ms=30 if on == SQLITE else None),
                sale: Subject(sales, {BARE: 0.3 if on == SQLITE else 0.15}),
                f"sale in EUR, {on}": Subject(euros, {sale: 0.85}),
                keyed: Subject(keyed_sales, {sale: 0.8}),
                f"lead, {on}": Subject(leads, {sale: 0.9}),
                f"refund, {on}": Subject(refunds, {sale: 0.5}),
            }
            lines = await compare(subjects, plan)
        clicked, *sold, _, back = (sum(load.answers for load in line.loads) for line in lines[1:])
        stored = [await world.count(url, table) for table in (tables.clicks, tables.sales, tables.refunds)]
        expected = [CUSTOMERS + LEADS + clicked, CUSTOMERS + sum(sold), back]
        assert stored == expected, "not every call that was answered is stored"
    return lines


async def rows(plan: Plan, on: str = SQLITE) -> list[Line]:
    """Measure clicks over few and over many stored ones of this month; every fifth carries the id of a stored one."""
    times, programs, target, connections = (1, 10, 0.8, 64) if on == SQLITE else (2, 50, 0.95, 256)
    subjects: dict[str, Subject] = {}
    with servers.databases(on) as databases, ExitStack() as stack:
        for number in (FEW_CLICKS, times * plan.many_clicks):
            url = await databases.create(f"clicks_{number}")
            shop = await world.create(url, programs=programs)
            carried = await world.load_clicks(url, shop, number, datetime.now(UTC).replace(day=1, hour=0, minute=0))
            service = stack.enter_context(running("service", url))
            clicks = Driver(service, calls.clicks(shop, carried=carried), RECORDED, databases.pids, connections)
            subjects[f"click, {on}, {number:,} clicks stored"] = Subject(clicks, dict.fromkeys(subjects, target))
        return await compare(subjects, plan)


async def distributed(plan: Plan) -> list[Line]:
    """Measure clicks and sales on Citus against one plain PostgreSQL, with fsync and the same binaries."""
    lines: list[Line] = []
    where = max(needs.CITUS_PREFIX.glob("usr/lib/postgresql/*/bin"))
    with citus.running(settings=postgres.DURABLE) as cluster, postgres.running(where, postgres.DURABLE) as plain:
        nodes = {"plain PostgreSQL": [plain], "Citus": [cluster.coordinator, *cluster.workers]}
        for number in (1, 8):
            url = await cluster.create_database(f"programs_{number}")
            await citus.distribute(url)
            urls = (await servers.create_database(plain, f"programs_{number}"), url)
            shops = [await world.create(each, programs=number, customers=500) for each in urls]
            with running("service", urls[0]) as one, running("service", urls[1]) as other:
                for call, requests in (("click", calls.clicks), ("sale", calls.sales)):
                    subjects: dict[str, Subject] = {}
                    for on, shop, service in zip(nodes, shops, (one, other), strict=True):
                        driver = Driver(service, requests(shop), RECORDED, [*map(servers.postmaster, nodes[on])])
                        of = dict.fromkeys(subjects, 0.7 if (call, number) == ("click", 1) else None)
                        subjects[f"{call}, {number} programs, {on}"] = Subject(driver, of)
                    lines += await compare(subjects, plan)
    return lines


async def grown(what: str, driver: Driver, number: int) -> Line:
    """Make calls, after a twentieth of them as a warm-up, and return how much the server's memory grew."""
    loads = [await driver(count=number // STEPS)]
    resident = [_resident_mb(driver.server.pid)]
    for _ in range(STEPS):
        loads.append(await driver(count=number // STEPS))
        resident.append(_resident_mb(driver.server.pid))
    note = at_most(f"memory from {resident[0]:.0f} MB by", max(resident) - resident[0], MOST_MB, "MB")
    return Line(f"{number:,} {what}", loads, [note])


def _resident_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024
