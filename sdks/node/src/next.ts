/** Next.js: `const track = await tracking()` in a route handler or a server action, then `await track.lead(...)`. */

import { CLICK_COOKIE, type Options } from "./settings.js";
import { Track } from "./track.js";

let shared: Track | undefined;

/** The shop's Track, for the visitor of the current request. The first call's options count. */
export async function tracking(options: Options = {}): Promise<Track> {
  shared ??= new Track(options);
  return shared.of({ clickId: await clickId() });
}

async function clickId(): Promise<string | undefined> {
  try {
    const { cookies } = await import("next/headers.js");
    return (await cookies()).get(CLICK_COOKIE)?.value;
  } catch (problem) {
    if (isOfNext(problem)) throw problem;
    return undefined; // outside a request, such as in a script
  }
}

/** Whether Next.js throws this to find out what it must render at each request. It has to get it back. */
function isOfNext(problem: unknown): boolean {
  const digest = (problem as { digest?: unknown } | null)?.digest;
  return typeof digest === "string" && /^(DYNAMIC_SERVER_USAGE|BAILOUT|HANGING|NEXT_)/.test(digest);
}
