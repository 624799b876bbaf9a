"""Reports leads, sales and refunds to an affiliate tracking service, and never raises into a checkout."""

from svc_affiliate.codes import ErrorCode as ErrorCode
from svc_affiliate.fields import LeadFields as LeadFields
from svc_affiliate.fields import RefundFields as RefundFields
from svc_affiliate.fields import SaleFields as SaleFields
from svc_affiliate.result import LeadData as LeadData
from svc_affiliate.result import LeadResult as LeadResult
from svc_affiliate.result import RefundData as RefundData
from svc_affiliate.result import RefundResult as RefundResult
from svc_affiliate.result import SaleData as SaleData
from svc_affiliate.result import SaleResult as SaleResult
from svc_affiliate.result import Status as Status
from svc_affiliate.result import TrackError as TrackError
from svc_affiliate.result import TrackResult as TrackResult
from svc_affiliate.result import WrongField as WrongField
from svc_affiliate.settings import CLICK_COOKIE as CLICK_COOKIE
from svc_affiliate.settings import VERSION as VERSION
from svc_affiliate.settings import Options as Options
from svc_affiliate.track import AsyncTrack as AsyncTrack
from svc_affiliate.track import Track as Track
