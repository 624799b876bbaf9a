// The two calls of a browser: they outlive the page, are tried twice, and never reject.

import { say } from "./console";

/** What the service answered; a `reason` beside `success: false` says why nothing was recorded. */
export interface Answer {
  success?: boolean;
  reason?: string;
  message?: string;
  [field: string]: unknown;
}

const PATIENCE_MS = 5000;
const PAUSE_MS = 500;

/** Send a call and return its answer; `reason: "unreachable"` when the service gave none. */
export async function send(url: string, body: object): Promise<Answer> {
  say("sending", url, body);
  try {
    const answer = await post(url, body).catch(async (error) => {
      say("trying again:", error);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      return post(url, body);
    });
    say("answer", answer);
    return answer;
  } catch (error) {
    say("giving up, offline or blocked:", error);
    return refused("unreachable", "The tracking service could not be reached.");
  }
}

/** Return the answer to a call that was not sent. */
export function refused(reason: string, message: string): Answer {
  say(message);
  return { success: false, reason, message };
}

async function post(url: string, body: object): Promise<Answer> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), PATIENCE_MS);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      keepalive: true,
      credentials: "omit",
      signal: limit.signal,
    });
    const answer = await response.json();
    if (answer?.constructor !== Object) throw answer; // of a proxy: pages read fields of an object
    return answer;
  } finally {
    clearTimeout(timer);
  }
}
