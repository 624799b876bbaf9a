"""Backtests: what a program's last days would have cost under other terms; nothing changes."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from presentation.api_request import ApiRequest
from presentation.changes import Changes, LargeId, PartnerTermsChange, TermsChange
from presentation.operations import operation
from presentation.settings_models import changed, with_settings
from storage.reports import backtest
from storage.reports.backtest import Backtest
from storage.reports.backtest_result import BacktestResult
from storage.rules.draft import DraftChange
from storage.rules.errors import Overloaded, PartnerNotFound, RateLimited
from storage.rules.settings import SETTINGS
from web.body import Body, Text

FORM_DAYS = 90  # for which a form prices its terms


@with_settings(changed, [setting for setting in SETTINGS if not setting.owner_only])
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
    moves = bool(sent.partner_id and sent.group)
    change = DraftChange(sent.changes.sent(), sent.partner_id, sent.group, moves)
    return await run(call, [change], days=sent.days)


@operation(RateLimited, PartnerNotFound)
async def price_partner_terms(call: ApiRequest, sent: PartnerTermsChange) -> BacktestResult:
    """Price the last 90 days under the terms and the group of a partner; nothing changes."""
    return await run(call, [draft_of(sent, partner_id=call.path_id("partner_id"))], days=FORM_DAYS)


@operation(RateLimited)
async def price_group_terms(call: ApiRequest, sent: TermsChange) -> BacktestResult:
    """Price the last 90 days under the terms of a group; nothing changes."""
    return await run(call, [draft_of(sent, group=call.path_name("group"))], days=FORM_DAYS)


def draft_of(sent: Changes, *, partner_id: int | None = None, group: str | None = None) -> DraftChange:
    """Return what an action changes of the terms of a partner, a group or the program, as a backtest prices it."""
    settings = sent.sent()
    moves, group = "group" in settings, settings.pop("group", group)
    return DraftChange(settings, partner_id, group, moves)


async def run(call: ApiRequest, changes: Sequence[DraftChange], *, days: int) -> BacktestResult:
    """Run a backtest chunk by chunk, off the event loop, while its caller waits. Raises RateLimited for a second."""
    with backtest.alone(call.program_id):
        running = await call.report(Backtest, changes, days=days, at=call.at)
        while not running.is_done:
            if await call.request.is_disconnected():
                raise Overloaded("The caller has left.", retry_after_seconds=1)
            await call.report(running.step)
        return await call.report(running.result)
