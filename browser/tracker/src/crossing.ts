// Crossing to another domain of the same shop: a link carries a hand-over token, the tracker there redeems it.

import type { Settings } from "./settings";
import { send } from "./calls";
import { say } from "./console";
import { carry, clickId, NAME } from "./cookie";

const GOOD_MS = 240_000; // a token lives for five minutes, in which the other page has to load
const FRESH_MS = 120_000;
const USED_MS = 10_000;

let token = "";
export let holder: string | undefined; // the click that the token is for; none until a token was wanted
let askedAt = 0;
let used = false;

/** Get a token ahead of time, because decorate cannot wait: one that is not used, for the click that the visitor carries. */
export async function prepare(settings: Settings): Promise<void> {
  const id = clickId();
  if (!id || (id === holder && Date.now() - askedAt < (used ? USED_MS : FRESH_MS))) return;
  if (id !== holder || Date.now() - askedAt > GOOD_MS) token = "";
  holder = id;
  askedAt = Date.now();
  used = false;
  const answer = await send(place(settings, "handover"), { click_id: id });
  if (id === holder) token = typeof answer.token === "string" ? answer.token : "";
}

/** Return the address with a token in it; without one, and unless it is http(s), the address comes back as it was. */
export function decorated(url: string): string {
  const target = new URL(url, location.href);
  const ready = token && holder === clickId() && Date.now() - askedAt < GOOD_MS;
  if (!ready || !/^https?:$/.test(target.protocol)) {
    say("link left as it is:", ready ? "not http" : "no token yet");
    return url;
  }
  used = true;
  target.search = [without(target.search), `${NAME}=${token}`].filter(Boolean).join("&");
  return target.href;
}

/** Return the token that came with the address. */
export function arriving(): string | null {
  return new URLSearchParams(location.search).get(NAME);
}

/** Take the token out of the address bar, so that it is not copied and shared with the address. */
export function tidy(): void {
  const address = new URL(location.href);
  address.search = without(address.search);
  history.replaceState(history.state, "", address);
}

/** Let the visitor carry the click of a token that came with the address, if the service says so. */
export async function pickUp(arrived: string, settings: Settings): Promise<void> {
  const existing = clickId();
  const answer = /^[\w-]+(\.\w+){3}$/.test(arrived)
    ? await send(place(settings, "redeem"), { token: arrived, ...(existing && { existing_click_id: existing }) })
    : {};
  if (typeof answer.click_id !== "string") say("token ignored");
  else if (answer.click_id !== existing) carry(answer.click_id, Number(answer.cookie_window_days));
}

function place(settings: Settings, call: string): string {
  return `${settings.calls}${call}?program_id=${settings.programId}`;
}

/** Return a query string without the token, and every other part of it as it was written. */
function without(search: string): string {
  const parts = search.replace(/^\?/, "").split("&");
  return parts.filter((part) => part && !new URLSearchParams(part).has(NAME)).join("&");
}
