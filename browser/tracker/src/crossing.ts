// Crossing to another domain of the same shop: a link carries the click id, the tracker there picks it up.

import { carry, clickId, NAME } from "./cookie";
import { say } from "./console";

const CLICK_ID = /^[0-9a-f]{32}-([0-9a-f]{1,15})$/;
const MOMENT_DIGITS = 12;
const DAY_MS = 86_400_000;
const WINDOW_DAYS = 60; // a link does not say the program's cookie window: the default; the service enforces its own

/** Return the address with the visitor's click id in it; anything else than an http(s) address comes back as it was. */
export function decorated(url: string): string {
  const id = clickId();
  const target = new URL(url, location.href);
  if (!id || !/^https?:$/.test(target.protocol)) {
    say("link left as it is:", id ? "no web address" : "the visitor carries no click id");
    return url;
  }
  target.search = [without(target.search), `${NAME}=${id}`].filter(Boolean).join("&");
  return target.href;
}

/** Return the click id that came with the address. */
export function arriving(): string | null {
  return new URLSearchParams(location.search).get(NAME);
}

/** Take the click id out of the address bar, so that it is not copied and shared with the address. */
export function tidy(): void {
  const address = new URL(location.href);
  address.search = without(address.search);
  history.replaceState(history.state, "", address);
}

/** Let the visitor carry a click id that came with the address: one of this program, live, and later than theirs. */
export function pickUp(id: string, programId: number): void {
  const program = CLICK_ID.exec(id)?.[1];
  const ageDays = (Date.now() - moment(id)) / DAY_MS;
  if (!program || parseInt(program, 16) !== programId || ageDays < -1 || ageDays > WINDOW_DAYS) {
    say("click id of the address ignored: none of this program, or not live", id);
  } else if (moment(clickId() ?? "") > moment(id)) {
    say("click id of the address ignored: the visitor carries a later one");
  } else {
    carry(id, Math.ceil(WINDOW_DAYS - ageDays));
  }
}

/** Return the moment that a click id starts with, in milliseconds; NaN if it starts with none. */
function moment(id: string): number {
  return parseInt(id.slice(0, MOMENT_DIGITS), 16);
}

/** Return a query string without the click id, and every other part of it as it was written. */
function without(search: string): string {
  const parts = search.replace(/^\?/, "").split("&");
  return parts.filter((part) => part && !new URLSearchParams(part).has(NAME)).join("&");
}
