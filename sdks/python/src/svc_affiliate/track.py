"""`track.lead`, `track.sale` and `track.refund`, for threads and for asyncio: they return a result and never raise."""

import asyncio
from collections.abc import Mapping
from typing import Any, Self, Unpack

from svc_affiliate import fields, log, result
from svc_affiliate.codes import ErrorCode
from svc_affiliate.delivery import Sending
from svc_affiliate.fields import CallName, LeadFields, PreparedCall, RefundFields, SaleFields
from svc_affiliate.outbox import Outbox
from svc_affiliate.resending import Resender
from svc_affiliate.result import LeadResult, RefundResult, SaleResult, Status, TrackError, TrackResult
from svc_affiliate.settings import CLICK_COOKIE, VERSION, Options, Settings, Target

AGENT = f"svc-affiliate-python/{VERSION}"


class _Tracking:
    """What both kinds share: what to send, and what becomes of a call that did not arrive."""

    def __init__(self, **options: Unpack[Options]) -> None:
        given: dict[str, Any] = dict(options)
        if unknown := sorted(given.keys() - set(Settings._fields)):  # a checkout goes on, however it is configured
            log.LOGGER.error("Unknown options of svc_affiliate: %s", unknown)
        self._settings = Settings(**{name: value for name, value in given.items() if name not in unknown})
        self._resender = Resender(self._settings, AGENT)
        self._click_id: str | None = None

    def of(self, cookies: Mapping[str, str]) -> Self:
        """Return the same for one visitor, whose click id is in these cookies."""
        visitor = type(self).__new__(type(self))
        visitor.__dict__ |= self.__dict__ | {"_click_id": cookies.get(CLICK_COOKIE)}
        return visitor

    def resend(self) -> int:
        """Send what waits in the outbox, now; return how many calls still wait. It takes as long as it takes."""
        try:
            folder = self._settings.target().outbox
            return self._resender.resend(folder) if folder and folder.is_dir() else 0
        except Exception:  # noqa: BLE001 - as in `_call`
            log.LOGGER.exception("The outbox cannot be resent.")
            return 0

    def _prepared(self, name: CallName, given: Mapping[str, Any]) -> tuple[PreparedCall, Target] | TrackResult[Any]:
        """Return what to send; a result if there is nothing to send now."""
        target = self._settings.target()
        clicked = {"click_id": self._click_id} if name != "refund" and self._click_id else {}
        call = fields.prepare(name, {**clicked, **given}, test_mode=target.is_test)
        if call is None:
            return TrackResult(Status.SKIPPED, name)
        if target.outbox and Outbox(target.outbox).waiting():
            before = "Earlier calls wait in the outbox. This one waits behind them."
            return self._kept(call, target, result.failed(call, ErrorCode.OUTBOX_WAITING, before))
        return call, target

    def _sending(self, call: PreparedCall, target: Target) -> Sending:
        return Sending(call, target, seconds=self._settings.timeout_seconds, agent=AGENT)

    def _kept(self, call: PreparedCall, target: Target, sent: TrackResult[Any]) -> TrackResult[Any]:
        """Put a call that did not arrive into the outbox, if there is one."""
        if sent.status == Status.FAILED and target.outbox:
            try:
                sent = result.queued(call, sent.error) if Outbox(target.outbox).put(call) else sent
                self._resender.start(target.outbox)
            except (OSError, RuntimeError) as problem:
                log.LOGGER.error("The outbox %s cannot be used: %s", target.outbox, problem)
        log.report(sent)
        return sent


class Track(_Tracking):
    """Reports to the service from ordinary code. A method takes at most the timeout, and returns its result."""

    def lead(self, **given: Unpack[LeadFields]) -> LeadResult:
        """Report that a visitor has signed up."""
        return self._call("lead", given)

    def sale(self, **given: Unpack[SaleFields]) -> SaleResult:
        """Report that a customer has paid."""
        return self._call("sale", given)

    def refund(self, **given: Unpack[RefundFields]) -> RefundResult:
        """Report that a sale was refunded."""
        return self._call("refund", given)

    def _call(self, name: CallName, given: Mapping[str, Any]) -> TrackResult[Any]:
        try:
            prepared = self._prepared(name, given)
            if isinstance(prepared, TrackResult):
                return prepared
            sending = self._sending(*prepared)
            try:
                sent = sending.future.result(self._settings.timeout_seconds)
            except TimeoutError:
                sent = sending.give_up()
            return self._kept(*prepared, sent)
        except Exception as problem:  # noqa: BLE001 - nothing that goes wrong here may stop a checkout
            return _broken(name, problem)


class AsyncTrack(_Tracking):
    """The same for asyncio: the call runs in a thread, and the event loop goes on."""

    async def lead(self, **given: Unpack[LeadFields]) -> LeadResult:
        """Report that a visitor has signed up."""
        return await self._call("lead", given)

    async def sale(self, **given: Unpack[SaleFields]) -> SaleResult:
        """Report that a customer has paid."""
        return await self._call("sale", given)

    async def refund(self, **given: Unpack[RefundFields]) -> RefundResult:
        """Report that a sale was refunded."""
        return await self._call("refund", given)

    async def _call(self, name: CallName, given: Mapping[str, Any]) -> TrackResult[Any]:
        try:
            prepared = self._prepared(name, given)
            if isinstance(prepared, TrackResult):
                return prepared
            sending = self._sending(*prepared)
            try:
                sent = await asyncio.wait_for(asyncio.wrap_future(sending.future), self._settings.timeout_seconds)
            except TimeoutError:
                sent = sending.give_up()
            return self._kept(*prepared, sent)
        except Exception as problem:  # noqa: BLE001 - as in Track
            return _broken(name, problem)


def _broken(name: CallName, problem: Exception) -> TrackResult[Any]:
    """Return the result of a call that could not be made from what the shop passed."""
    is_wrong = isinstance(problem, TypeError | ValueError)
    status = Status.REJECTED if is_wrong else Status.FAILED
    code = ErrorCode.VALIDATION_ERROR if is_wrong else ErrorCode.SDK_ERROR
    broken: TrackResult[Any] = TrackResult(status, name, error=TrackError(code, f"{type(problem).__name__}: {problem}"))
    log.report(broken)
    return broken
