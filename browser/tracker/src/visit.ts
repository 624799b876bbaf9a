// A visitor came through a partner's link: what the click call says about it.

import type { Settings } from "./settings";
import { send } from "./calls";
import { carry, clickId } from "./cookie";
import { say } from "./console";

const LONGEST_URL = 2048;
const LONGEST_TEXT = 512;
const HELD = "svc_landing";

/** Where a visitor landed, noted on arrival: consent may come pages later. */
export interface Landing {
  code: string;
  url: string;
  referrer: string;
}

/** Return where the visitor stands, if the address carries a partner code: ours, or another tool's if the program accepts it. */
export function landing(): Landing | null {
  for (const name of ["aff", "via", "fpr", "ref"]) {
    const code = new URLSearchParams(location.search).get(name)?.trim();
    if (code) return { code, url: landingUrl(name, code), referrer: document.referrer };
  }
  return null;
}

/** Keep a visit until the visitor consents on a later page, or forget it. */
export function hold(found: Landing | null): void {
  sessionStorage[HELD] = JSON.stringify(found);
}

/** Return the visit that an earlier page kept. */
export function held(): Landing | null {
  return JSON.parse(sessionStorage[HELD] ?? null);
}

/** Record a click and let the visitor carry its id. */
export async function click(settings: Settings, { code, url, referrer }: Landing): Promise<void> {
  const existing = clickId();
  const answer = await send(`${settings.calls}click`, {
    program_id: settings.programId,
    affiliate_url: url,
    page_url: clean(address(), LONGEST_URL),
    page_title: clean(document.title, LONGEST_TEXT),
    referrer_url: clean(referrer, LONGEST_URL),
    language: navigator.language,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    screen_resolution: `${screen.width}x${screen.height}`,
    viewport_size: `${innerWidth}x${innerHeight}`,
    ...(existing && { existing_click_id: existing }),
  });
  if (typeof answer.click_id === "string") {
    say(answer.click_id === existing ? "the visitor keeps their click" : `new click through the link of ${code}`);
    carry(answer.click_id, Number(answer.cookie_window_days));
  } else {
    say(`no click of ${code} was recorded`);
  }
}

/** Return the page's address; what follows # stays in the browser. */
function address(): string {
  return location.href.split("#")[0] ?? "";
}

function landingUrl(name: string, code: string): string {
  const short = `${location.origin}${location.pathname}`.slice(0, LONGEST_TEXT);
  return address().length > LONGEST_URL ? `${short}?${name}=${encodeURIComponent(code)}` : address();
}

/** Return text that the service takes: no control characters, no half characters, not too long. */
function clean(text: string, longest: number): string {
  return text.slice(0, longest).replace(/[\p{Cc}\p{Cs}]/gu, "");
}
