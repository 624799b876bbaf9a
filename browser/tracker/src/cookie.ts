// The visitor's click id: a first-party cookie on the widest domain that the browser accepts for this page.

import { say } from "./console";

export const NAME = "svc_click_id";
const PROBE = "svc_probe";
const DAY_SECONDS = 86400;
let unkept: string | undefined; // where cookies are refused, the click id lives as long as the page

/** Return the click id that the visitor carries. Of two cookies, the one that the whole site reads stays. */
export function clickId(): string | undefined {
  if (read(NAME)[1]) widestDomain();
  return read(NAME)[0] || unkept;
}

/** Let the visitor carry a click id for so many days. */
export function carry(id: string, days: number): void {
  unkept = id;
  const domain = widestDomain();
  write(NAME, id, domain, days * DAY_SECONDS);
  const kept = read(NAME)[0] === id;
  say(kept ? `cookie set for ${days} days on ${domain || "this host"}` : "no cookie is kept here");
}

/**
 * Try the domain's endings from the shortest: a browser refuses a public suffix such as co.uk. Remove the cookies on narrower
 * ones, which a server may have set: pages and servers would read an older click there.
 */
function widestDomain(): string {
  const labels = location.hostname.split(".");
  let widest = "";
  for (let length = 2; length <= labels.length; length++) {
    const domain = labels.slice(-length).join(".");
    write(widest ? NAME : PROBE, "1", domain, widest ? 0 : 9);
    if (!widest && read(PROBE)[0]) widest = domain;
    write(PROBE, "", domain, 0);
  }
  if (widest) write(NAME, "", "", 0);
  return widest;
}

function write(name: string, value: string, domain: string, seconds: number): void {
  const place = (domain && `; Domain=${domain}`) + (location.protocol === "https:" ? "; Secure" : "");
  cookies(`${name}=${value}; Path=/; Max-Age=${seconds}; SameSite=Lax${place}`);
}

function read(name: string): string[] {
  const pairs = cookies().split("; ").filter((cookie) => cookie.startsWith(`${name}=`));
  return pairs.map((pair) => pair.slice(name.length + 1));
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
