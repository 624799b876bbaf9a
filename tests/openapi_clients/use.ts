/** A shop's code with the generated types: it compiles only if they are what the shop needs. */

import type { components, paths } from "./schema.js";

type Sale = paths["/api/v1/track/sale"]["post"];
type Recorded = Sale["responses"][200]["content"]["application/json"];
type Failed = Sale["responses"][400 | 401 | 409 | 413 | 415 | 429 | 500 | 503]["content"]["application/json"];

export const sale: Sale["requestBody"]["content"]["application/json"] = { transaction_id: "inv-1", amount_cents: 4900 };

export function commission(response: Recorded): number | undefined {
  return "commission_cents" in response.data ? response.data.commission_cents : undefined;
}

export function code(response: Failed): components["schemas"]["ErrorCode"] {
  return response.error.code;
}

type Change = paths["/api/programs/{program_id}"]["patch"]["requestBody"]["content"]["application/json"];
export const change: Change = { cookie_window_days: 60 };
export const nothing: Change = {};

export const handled: components["schemas"]["ErrorCode"][] = ["duplicate_transaction", "customer_not_found"];
