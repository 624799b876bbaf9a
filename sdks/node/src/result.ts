/** What became of a call: a status, the service's data, and the error by its code. */

import type { ErrorCode } from "./codes.js";
import type { CallName, PreparedCall } from "./fields.js";

interface Described {
  message: string;
  hint?: string;
  request_id?: string;
  /** The status of the response; absent if the service did not respond. */
  http_status?: number;
}

type Repeatable = "rate_limited" | "overloaded" | "storage_unavailable" | "outcome_unknown";

/** Why a call was not recorded. Branch on `code`; a newer service can send one that this type does not list. */
export type TrackError = Described &
  (
    | { code: "duplicate_transaction"; same_payload: boolean; existing: { eventId: number; recorded_at: string } }
    | { code: "validation_error"; fields?: { field: string; message: string }[] }
    | { code: Repeatable; retry_after_seconds?: number }
    | { code: Exclude<ErrorCode, "duplicate_transaction" | "validation_error" | Repeatable> }
  );

export interface LeadData {
  eventId?: number;
  programId?: number;
  test_mode?: boolean;
}

export interface SaleData extends LeadData {
  transaction_id?: string;
  customer_key?: string | null;
  commission_id?: number | null;
  commission_cents?: number;
  currency?: string;
  customer_key_saved?: boolean;
}

export interface RefundData extends LeadData {
  status?: "refunded" | "partially_refunded" | "already_refunded";
  transaction_id?: string;
  refund_id?: string | null;
  refunded_cents?: number;
  refunded_total_cents?: number;
  remaining_cents?: number;
  commission_id?: number | null;
  commission_reversed_cents?: number;
  replayed?: boolean;
}

interface Sent {
  call: CallName;
  /** The ids that were sent, given or generated. */
  transaction_id: string | null;
  refund_id: string | null;
}

/** The outcome of one call. `ok` is false only for a call that is wrong (`rejected`) or lost (`failed`). */
export type TrackResult<Data> = Sent &
  (
    | { status: "recorded"; ok: true; data: Data; already_recorded: boolean; dry_run?: true; error?: undefined }
    | { status: "unattributed" | "queued"; ok: true; error: TrackError }
    | { status: "skipped"; ok: true; error?: undefined }
    | { status: "rejected" | "failed"; ok: false; error: TrackError }
  );
export type LeadResult = TrackResult<LeadData>;
export type SaleResult = TrackResult<SaleData>;
export type RefundResult = TrackResult<RefundData>;

// Ordinary outcomes: no partner earns by this call, and there is nothing to fix in the shop's code.
const UNATTRIBUTED: ErrorCode[] = [
  ...(["customer_not_found", "customer_not_attributed", "attribution_window_expired"] as const),
  ...(["sale_before_click", "status_transition_refused", "transaction_not_found"] as const),
];

/** Whether the service can have sent this body. */
export function isOfTheService(content: any): boolean {
  return content?.success === true || typeof content?.error?.code === "string";
}

/** The result that a response of the service means; a temporary error is a failed call. */
export function ofResponse(call: PreparedCall, status: number, content: any): TrackResult<any> {
  if (!content.error) {
    const again = Boolean(content.already_recorded || content.replayed);
    const dry = content.dry_run ? { dry_run: true as const } : {};
    return { ...sent(call), status: "recorded", ok: true, data: content.data ?? {}, already_recorded: again, ...dry };
  }
  const error = { ...content.error, request_id: content.request_id, http_status: status } as TrackError;
  if (error.code === "duplicate_transaction" && error.same_payload) {
    return { ...sent(call), status: "recorded", ok: true, data: error.existing, already_recorded: true };
  }
  if (UNATTRIBUTED.includes(error.code)) return { ...sent(call), status: "unattributed", ok: true, error };
  const isTemporary = status >= 500 || status === 401 || status === 429;
  return { ...sent(call), status: isTemporary ? "failed" : "rejected", ok: false, error };
}

/** The result of a call that got no response of the service. */
export function failed(call: PreparedCall, code: ErrorCode, message: string): TrackResult<any> {
  return { ...sent(call), status: "failed", ok: false, error: { code, message } as TrackError };
}

/** The result of a call that waits in the outbox, and why. */
export function queued(call: PreparedCall, error: TrackError): TrackResult<any> {
  return { ...sent(call), status: "queued", ok: true, error };
}

/** The result of a visitor without a click. */
export function skipped(name: CallName): TrackResult<any> {
  return { call: name, transaction_id: null, refund_id: null, status: "skipped", ok: true };
}

/** The result of a call that could not be made from what the shop passed. */
export function broken(name: CallName, problem: unknown): TrackResult<any> {
  const isWrong = problem instanceof TypeError || problem instanceof RangeError;
  const error = { code: isWrong ? "validation_error" : "sdk_error", message: String(problem) } as TrackError;
  const status = isWrong ? "rejected" : "failed";
  return { call: name, transaction_id: null, refund_id: null, status, ok: false, error };
}

function sent(call: PreparedCall): Sent {
  return { call: call.name, transaction_id: call.transaction_id, refund_id: call.refund_id };
}
