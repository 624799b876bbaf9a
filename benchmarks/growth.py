"""What a full database and a long run cost: clicks over many stored rows, and the server's memory."""

from pathlib import Path

from benchmarks import calls, servers, world
from benchmarks.load import drive
from benchmarks.results import Ceiling, Line, Ratio, line
from benchmarks.rounds import Plan, Subject, alternate

FEW_CLICKS = 10_000
PROGRAMS = 10
MOST_GROWTH_MB = 20
STEPS = 20


async def rows(plan: Plan, folder: Path) -> list[Line]:
    """Measure clicks over few and over many stored ones; every fifth carries the id of a stored click."""
    paths = {FEW_CLICKS: folder / "few.db", plan.many_clicks: folder / "many.db"}
    subjects = {}
    shops = {
        number: await world.create(f"sqlite+aiosqlite:///{path}", programs=PROGRAMS) for number, path in paths.items()
    }
    carried = {number: world.load_clicks(path, shops[number], number) for number, path in paths.items()}
    few, many = paths.values()
    with servers.service(f"sqlite+aiosqlite:///{few}") as small, servers.service(f"sqlite+aiosqlite:///{many}") as big:
        for number, server in zip(paths, (small, big), strict=True):
            requests = calls.clicks(shops[number], carried=carried[number])
            subjects[f"{number}"] = Subject(server, requests, calls.RECORDED)
        rates = await alternate(subjects, plan)
    fewer, more = rates.values()
    ratio = Ratio(f"the same at {FEW_CLICKS:,}", more.over(fewer), 0.8)
    return [
        line(f"click, SQLite, {FEW_CLICKS:,} clicks stored", fewer),
        line(f"click, SQLite, {plan.many_clicks:,} clicks stored", more, ratio),
    ]


async def memory(plan: Plan, folder: Path) -> list[Line]:
    """Measure how much the server's memory grows over many clicks, after a warm-up."""
    url = f"sqlite+aiosqlite:///{folder / 'memory.db'}"
    shop = await world.create(url)
    requests = calls.clicks(shop)
    with servers.service(url) as server:
        await drive(server.port, requests, count=plan.memory_warm_up, expected=calls.RECORDED)
        resident = [resident_mb(server.pid)]
        loads = []
        for _ in range(STEPS):
            loads.append(await drive(server.port, requests, count=plan.memory_clicks // STEPS, expected=calls.RECORDED))
            resident.append(resident_mb(server.pid))
    growth = Ceiling(f"memory from {resident[0]:.0f} MB by", max(resident) - resident[0], MOST_GROWTH_MB, "MB")
    answers, seconds = sum(load.answers for load in loads), sum(load.seconds for load in loads)
    p50_ms, p99_ms = (sum(values) / STEPS for values in zip(*(load[2:] for load in loads), strict=True))
    return [Line(f"{plan.memory_clicks:,} clicks on end, SQLite", answers / seconds, p50_ms, p99_ms, (growth,))]


def resident_mb(pid: int) -> float:
    """Return how much memory a process holds."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    kilobytes = next(row for row in status.splitlines() if row.startswith("VmRSS:")).split()[1]
    return int(kilobytes) / 1024
