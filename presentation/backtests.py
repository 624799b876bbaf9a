"""Backtests: what a program's last days would have cost under other terms; nothing changes."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from presentation.api_request import ApiRequest
from presentation.changes import LargeId, PartnerTermsChange, TermsChange, with_agent_settings
from presentation.operations import operation
from storage.reports import backtest
from storage.reports.backtest import Backtest
from storage.reports.backtest_result import BacktestResult
from storage.rules.draft import DraftChange
from storage.rules.errors import Overloaded, PartnerNotFound, RateLimited
from web.body import Body, Text

FORM_DAYS = 90  # for which a form prices its terms


@with_agent_settings
class DraftSettings(TermsChange):
    """Settings to try; a `commission_rate` of null ends the terms of the partner, or else of the group."""


class BacktestQuery(Body):
    """Settings to try on the last `days`, for all, for a group, or for a partner, who would be in the `group`."""

    changes: DraftSettings
    days: Annotated[int, Field(ge=1, le=366)] = 30
    partner_id: LargeId | None = None
    group: Text | None = None


@operation(RateLimited, PartnerNotFound)
async def backtest_terms(call: ApiRequest, sent: BacktestQuery) -> BacktestResult:
    """Price a program's last days under other terms; nothing changes."""
    return await run(call, [draft_of(sent.changes.sent(), sent.partner_id, sent.group)], days=sent.days)


@operation(RateLimited, PartnerNotFound)
async def price_partner_terms(call: ApiRequest, sent: PartnerTermsChange) -> BacktestResult:
    """Price the last 90 days under the terms and the group of a partner; nothing changes."""
    return await run(call, [DraftChange(sent.sent(), call.path_id("partner_id"))], days=FORM_DAYS)


@operation(RateLimited)
async def price_group_terms(call: ApiRequest, sent: TermsChange) -> BacktestResult:
    """Price the last 90 days under the terms of a group; nothing changes."""
    return await run(call, [DraftChange(sent.sent(), group=call.path_name("group"))], days=FORM_DAYS)


def draft_of(settings: Mapping[str, Any], partner_id: int | None, group: str | None) -> DraftChange:
    """Return settings to try as a draft: with both, the partner moves to the group."""
    if partner_id and group:
        return DraftChange({**settings, "group": group}, partner_id)
    return DraftChange(settings, partner_id, group)


async def run(call: ApiRequest, changes: Sequence[DraftChange], *, days: int) -> BacktestResult:
    """Run a backtest chunk by chunk, off the event loop, while its caller waits. Raises RateLimited for a second."""
    with backtest.alone(call.program_id):
        running = await call.report(Backtest, changes, days=days, at=call.at)
        while not running.is_done:
            if await call.request.is_disconnected():
                raise Overloaded("The caller has left.", retry_after_seconds=1)
            await call.report(running.step)
        return await call.report(running.result)
