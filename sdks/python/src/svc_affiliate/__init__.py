"""Reports leads, sales and refunds to an affiliate tracking service, and never raises into a checkout."""

from svc_affiliate.codes import ErrorCode
from svc_affiliate.fields import LeadFields, RefundFields, SaleFields
from svc_affiliate.result import (
    LeadData,
    LeadResult,
    RefundData,
    RefundResult,
    SaleData,
    SaleResult,
    Status,
    TrackError,
    TrackResult,
    WrongField,
)
from svc_affiliate.settings import CLICK_COOKIE, VERSION, Options
from svc_affiliate.track import AsyncTrack, Track

__all__ = [
    "CLICK_COOKIE",
    "VERSION",
    "AsyncTrack",
    "ErrorCode",
    "LeadData",
    "LeadFields",
    "LeadResult",
    "Options",
    "RefundData",
    "RefundFields",
    "RefundResult",
    "SaleData",
    "SaleFields",
    "SaleResult",
    "Status",
    "Track",
    "TrackError",
    "TrackResult",
    "WrongField",
]
