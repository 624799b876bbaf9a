/** Reports leads, sales and refunds to an affiliate tracking service, and never throws into a checkout. */

export type { ErrorCode } from "./codes.js";
export type { LeadFields, RefundFields, SaleFields } from "./fields.js";
export type { LeadData, LeadResult, RefundData, RefundResult, SaleData, SaleResult, TrackError, TrackResult } from "./result.js";
export { CLICK_COOKIE, type Options } from "./settings.js";
export { Track } from "./track.js";
export { VERSION } from "./version.js";
