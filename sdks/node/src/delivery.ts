/** Sends one call: at most twice with the same ids, and never for longer than the timeout, whatever hangs. */

import { warnOnce } from "./log.js";
import type { PreparedCall } from "./fields.js";
import { failed, isOfTheService, ofResponse, type TrackResult } from "./result.js";
import type { Target } from "./settings.js";
import { VERSION } from "./version.js";

const RETRY_AFTER_MS = 50;

/** Send a call, and once more if the first attempt fails and there is time. */
export async function attempt(call: PreparedCall, target: Target, milliseconds: number): Promise<TrackResult<any>> {
  const deadline = Date.now() + milliseconds;
  const first = await once(call, target, deadline);
  const pause = pauseBeforeRetry(first);
  if (pause === null || Date.now() + pause >= deadline) return first;
  await new Promise((resolve) => setTimeout(resolve, pause));
  return once(call, target, deadline);
}

/** How long to wait before the second attempt; null if it would fail like the first. */
function pauseBeforeRetry({ status, error }: TrackResult<any>): number | null {
  if (status !== "failed" || error.code === "not_configured" || error.code === "timed_out") return null;
  const isOutage = error.http_status === undefined || error.http_status >= 500;
  const seconds = "retry_after_seconds" in error ? error.retry_after_seconds : undefined;
  return isOutage ? (seconds ? seconds * 1000 : RETRY_AFTER_MS) : null;
}

async function once(call: PreparedCall, target: Target, deadline: number): Promise<TrackResult<any>> {
  if (!target.key) return failed(call, "not_configured", "There is no program key: set SERVICE_API_KEY.");
  try {
    const response = await fetch(`${target.baseUrl}/api/v1/track/${call.name}`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Authorization: `Bearer ${target.key}`,
        "User-Agent": `svc-affiliate-node/${VERSION}`,
        ...(target.isDry ? { "Svc-Dry-Run": "true" } : {}),
      },
      body: call.body,
      redirect: "manual", // a redirect would carry the key to another server
      signal: AbortSignal.timeout(Math.max(deadline - Date.now(), 1)),
    });
    return understood(call, target, response.status, parsed(await response.text()));
  } catch (problem) {
    const isLate = problem instanceof Error && problem.name === "TimeoutError";
    return isLate
      ? failed(call, "timed_out", "The service took too long to respond.")
      : failed(call, "service_unreachable", `${target.baseUrl} does not respond: ${String(problem)}`);
  }
}

function understood(call: PreparedCall, target: Target, status: number, content: any): TrackResult<any> {
  if (!isOfTheService(content)) {
    return failed(call, "not_the_service", `${target.baseUrl} responded ${status}, but not as the service does.`);
  }
  if (Array.isArray(content.warnings)) warnOnce(content.warnings);
  return ofResponse(call, status, content);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
