"""`track.lead`, `track.sale` and `track.refund`, for threads and for asyncio: they return a result and never raise."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future, wait
from copy import copy
from dataclasses import replace
from typing import Any, Self, Unpack

from svc_affiliate import delivery, fields, result
from svc_affiliate.codes import ErrorCode
from svc_affiliate.fields import CallName, LeadFields, PreparedCall, RefundFields, SaleFields
from svc_affiliate.result import LeadResult, RefundResult, SaleResult, Status, TrackResult
from svc_affiliate.settings import CLICK_COOKIE, TIMEOUT_SECONDS, Options, Target, target_of

_Sent = tuple[PreparedCall, Target, Future[TrackResult[Any]]]


class _Tracking:
    """What both kinds share: what to send, and what becomes of a call that did not arrive."""

    def __init__(self, **options: Unpack[Options]) -> None:
        if unknown := sorted(options.keys() - Options.__annotations__):  # a checkout goes on, however it is configured
            result.LOGGER.error("Unknown options of svc_affiliate: %s", unknown)
        self._options = options
        self._seconds = options.get("timeout_seconds", TIMEOUT_SECONDS)
        self._click_id: str | None = None

    def of(self, cookies: Mapping[str, str]) -> Self:
        """Return the same for one visitor, whose click id is in these cookies."""
        visitor = copy(self)
        visitor.__dict__["_click_id"] = cookies.get(CLICK_COOKIE)
        return visitor

    def resend(self) -> int:
        """Send what waits in the outbox, now; return how many calls still wait. It takes as long as it takes."""
        try:
            folder = target_of(self._options).outbox
            return delivery.resend(folder, self._options) if folder and folder.is_dir() else 0
        except Exception:  # noqa: BLE001 - as in `_begin`
            result.LOGGER.exception("The outbox cannot be resent.")
            return 0

    def _begin(self, name: CallName, given: Mapping[str, Any]) -> _Sent | TrackResult[Any]:
        """Return the call on its way, or the result if there is nothing to send now."""
        try:
            target = target_of(self._options)
            clicked = {"click_id": self._click_id} if name != "refund" and self._click_id else {}
            call = fields.prepare(name, {**clicked, **given}, test_mode=target.is_test)
            if call is None:
                return TrackResult(Status.SKIPPED, name)
            if target.outbox and delivery.waiting(target.outbox):
                before = "Earlier calls wait in the outbox. This one waits behind them."
                return self._kept(call, target, result.failed(call, ErrorCode.OUTBOX_WAITING, before))
            return call, target, delivery.send(call, target, seconds=self._seconds)
        except Exception as problem:  # noqa: BLE001 - nothing that goes wrong here may stop a checkout
            broken = result.broken(name, problem)
            result.report(broken)
            return broken

    def _end(self, call: PreparedCall, target: Target, sent: Future[TrackResult[Any]]) -> TrackResult[Any]:
        late = result.failed(call, ErrorCode.TIMED_OUT, "The service took too long to respond.")
        return self._kept(call, target, late if sent.cancel() else sent.result())

    def _kept(self, call: PreparedCall, target: Target, sent: TrackResult[Any]) -> TrackResult[Any]:
        """Put a call that did not arrive into the outbox, if there is one."""
        is_of_the_sdk = sent.error is not None and sent.error.code == ErrorCode.SDK_ERROR
        if sent.status == Status.FAILED and target.outbox and not is_of_the_sdk:
            try:
                sent = replace(sent, status=Status.QUEUED) if delivery.put(target.outbox, call) else sent
                delivery.start(target.outbox, self._options)
            except Exception as problem:  # noqa: BLE001 - as above
                result.LOGGER.error("The outbox %s cannot be used: %s", target.outbox, problem)
        result.report(sent)
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
        begun = self._begin(name, given)
        if isinstance(begun, TrackResult):
            return begun
        wait([begun[-1]], self._seconds)
        return self._end(*begun)


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
        begun = self._begin(name, given)
        if isinstance(begun, TrackResult):
            return begun
        await asyncio.wait([asyncio.wrap_future(begun[-1])], timeout=self._seconds)
        return self._end(*begun)
