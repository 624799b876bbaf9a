/** What the SDK logs to the console: each thing once, or once a minute; never a key or an e-mail address. */

import type { TrackResult } from "./result.js";

const AGAIN_AFTER_MS = 60_000;
const said = new Map<string, number>();

/** Log the warnings of a response, such as a key that must be rotated: each code once in this process. */
export function warnOnce(warnings: { code?: string; message?: string; hint?: string }[]): void {
  for (const { code, message, hint } of warnings) {
    const about = String(code);
    if (!said.has(about)) {
      said.set(about, Date.now());
      console.warn(`svc-affiliate: ${about}: ${message} ${hint ?? ""}`.trim());
    }
  }
}

/** Log a call that was not recorded: a wrong one always, others at most once a minute for each reason. */
export function report(result: TrackResult<unknown>): void {
  if (!result.error || result.status === "unattributed") return;
  const { code, message, hint, request_id } = result.error;
  const about = `${result.status} ${code}`;
  if (result.status !== "rejected" && Date.now() - (said.get(about) ?? 0) < AGAIN_AFTER_MS) return;
  said.set(about, Date.now());
  const log = result.status === "queued" ? console.warn : console.error;
  log(`svc-affiliate: track.${result.call} ${about}: ${message} ${hint ?? ""} (request ${request_id ?? "none"})`);
}

/** Log that the outbox cannot be used. */
export function outboxFailed(problem: unknown): void {
  console.error(`svc-affiliate: the outbox cannot be used: ${String(problem)}`);
}
