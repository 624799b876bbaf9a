"""The backtest of a program's terms: what its last days would have cost under others."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from presentation.api_request import ApiRequest
from presentation.changes import AgentProgramChange, LargeId
from presentation.operations import operation
from storage.reports import backtest
from storage.reports.backtest import Backtest
from storage.reports.backtest_result import BacktestResult
from storage.rules.draft import DraftChange
from storage.rules.errors import Overloaded, RateLimited
from web.body import Body, Text


class BacktestQuery(Body):
    """Settings to try on the last `days`, for all partners, for one alone, or for a group of partners."""

    changes: AgentProgramChange
    days: Annotated[int, Field(ge=1, le=366)] = 30
    partner_id: LargeId | None = None
    group: Text | None = None


@operation(RateLimited)
async def backtest_terms(call: ApiRequest, sent: BacktestQuery) -> BacktestResult:
    """Price a program's last days under other terms; nothing changes."""
    moves = bool(sent.partner_id and sent.group)
    change = DraftChange(sent.changes.sent(), sent.partner_id, sent.group, moves)
    return await run(call, [change], days=sent.days)


async def run(call: ApiRequest, changes: Sequence[DraftChange], *, days: int) -> BacktestResult:
    """Run a backtest chunk by chunk, off the event loop, while its caller waits. Raises RateLimited for a second."""
    with backtest.alone(call.program_id):
        running = await call.report(Backtest, changes, days=days, at=call.at)
        while not running.is_done:
            if await call.request.is_disconnected():
                raise Overloaded("The caller has left.", retry_after_seconds=1)
            await call.report(running.step)
        return await call.report(running.result)
