/** What a shop reports: the fields of each call, and the JSON that is sent. */

export type CallName = "lead" | "sale" | "refund";

type Id = string | number;

/** A visitor signed up. Without a click id or a coupon nothing is sent, unless `known`: the service knows the key. */
export interface LeadFields {
  click_id?: string | null | undefined;
  customer_key?: Id | null | undefined;
  email?: string | null | undefined;
  coupon_code?: string | null | undefined;
  event_name?: string | null | undefined;
  known?: boolean | undefined;
}

/** A customer paid. A missing `transaction_id` is generated. Tax and shipping are parts of `amount_cents`. */
export interface SaleFields {
  transaction_id?: Id | null | undefined;
  customer_key?: Id | null | undefined;
  click_id?: string | null | undefined;
  amount_cents: number;
  tax_cents?: number | null | undefined;
  shipping_cents?: number | null | undefined;
  currency?: string | null | undefined;
  coupon_code?: string | null | undefined;
  occurred_at?: Date | string | null | undefined;
  sale_type?: "payment" | "subscription" | null | undefined;
  is_recurring?: boolean | null | undefined;
  subscription_id?: string | null | undefined;
  subscription_interval?: "monthly" | "quarterly" | "annual" | null | undefined;
  product_id?: Id | null | undefined;
  line_items?: unknown;
}

/** A sale was refunded, all that remains of it without an amount. A missing `refund_id` is generated. */
export interface RefundFields {
  transaction_id: Id;
  refund_id?: Id | null | undefined;
  refund_amount_cents?: number | null | undefined;
  refund_reason?: string | null | undefined;
}

/** A call ready to send: every attempt sends the same text and the same ids. The outbox stores it as it is. */
export interface PreparedCall {
  name: CallName;
  body: string;
  repeat_key: string;
  transaction_id: string | null;
  refund_id: string | null;
}

const DECLARED: Record<CallName, string[]> = {
  lead: ["click_id", "customer_key", "email", "coupon_code", "event_name", "known"],
  sale: [
    ...["transaction_id", "customer_key", "click_id", "amount_cents", "tax_cents", "shipping_cents"],
    ...["currency", "coupon_code", "occurred_at", "sale_type"],
    ...["is_recurring", "subscription_id", "subscription_interval", "product_id", "line_items"],
  ],
  refund: ["transaction_id", "refund_id", "refund_amount_cents", "refund_reason"],
};
const IDENTIFIERS = ["click_id", "customer_key", "transaction_id", "refund_id", "subscription_id", "product_id"];

/** The call to send; null if there is nothing to send. Throws a TypeError for fields that the call does not have. */
export function prepare(name: CallName, fields: object, testMode: boolean): PreparedCall | null {
  const unknown = Object.keys(fields).filter((field) => !DECLARED[name].includes(field));
  if (unknown.length > 0) throw new TypeError(`track.${name} has no field ${unknown.join(", ")}`);
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const body: Record<string, unknown> = Object.fromEntries(
    given.map(([field, value]) => [field, IDENTIFIERS.includes(field) ? String(value) : value]),
  );
  const { known, event_name, ...sent } = body;
  if (!testMode && !known && isOfAStranger(name, sent)) return null;
  if (name === "sale") sent.transaction_id ??= newId();
  if (name === "refund") sent.refund_id ??= newId();
  const extra = { ...(testMode ? { test_mode: true } : {}), ...(event_name ? { event_name } : {}) };
  if (Object.keys(extra).length > 0) sent.additional_data = extra;
  return {
    name,
    body: JSON.stringify(sent),
    repeat_key: newId(),
    transaction_id: (sent.transaction_id as string | undefined) ?? null,
    refund_id: (sent.refund_id as string | undefined) ?? null,
  };
}

/** Whether no click brought this person, as far as the shop knows, and the service knows no key of theirs. */
function isOfAStranger(name: CallName, body: Record<string, unknown>): boolean {
  const named = "click_id" in body || "coupon_code" in body;
  return (name === "lead" && !named) || (name === "sale" && !named && !("customer_key" in body));
}

function newId(): string {
  return `sdk-${crypto.randomUUID().replaceAll("-", "")}`;
}
