// The visitor's click id: a first-party cookie on the widest domain that the browser accepts for this page.

import { say } from "./console";

export const NAME = "svc_click_id";
const PROBE = "svc_probe";
const DAY_SECONDS = 86400;
let unkept: string | undefined; // where cookies are refused, the click id lives as long as the page

/** Return the click id that the visitor carries. */
export function clickId(): string | undefined {
  return read(NAME) || unkept;
}

/** Let the visitor carry a click id for so many days. */
export function carry(id: string, days: number): void {
  unkept = id;
  const domain = widestDomain();
  write(NAME, id, domain, days * DAY_SECONDS);
  const kept = read(NAME) === id;
  say(kept ? `cookie ${NAME} set for ${days} days on ${domain || "this host"}` : "the browser keeps no cookie here");
}

/** Try the domain's endings from the shortest: a browser refuses a public suffix such as co.uk. */
function widestDomain(): string {
  const labels = location.hostname.split(".");
  for (let length = 2; length <= labels.length; length++) {
    const domain = labels.slice(-length).join(".");
    write(PROBE, "1", domain, 9);
    const accepted = read(PROBE) === "1";
    write(PROBE, "", domain, 0);
    if (accepted) return domain;
  }
  return "";
}

function write(name: string, value: string, domain: string, seconds: number): void {
  const place = (domain && `; Domain=${domain}`) + (location.protocol === "https:" ? "; Secure" : "");
  cookies(`${name}=${value}; Path=/; Max-Age=${seconds}; SameSite=Lax${place}`);
}

function read(name: string): string | undefined {
  const pair = cookies().split("; ").find((cookie) => cookie.startsWith(`${name}=`));
  return pair?.slice(name.length + 1);
}

/** Return the page's cookies, after setting one if it is given; a sandboxed page has none and must not be asked. */
function cookies(set?: string): string {
  try {
    if (set) document.cookie = set;
    return document.cookie;
  } catch {
    return "";
  }
}
