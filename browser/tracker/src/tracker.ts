// The script itself: starts once, answers the calls that were made before it was there, and never throws into the page.

import { listen, say, warn } from "./console";
import { readSettings } from "./settings";
import { start, type Svc } from "./svc";

/** A call made before the script had loaded: the method, what to tell it, and who waits for its answer. */
type Early = [keyof Svc, unknown[], ((answer: unknown) => void)?];

interface Page {
  svc?: Partial<Svc> & { q?: { push(call: Early): unknown } & Partial<Iterable<Early>>; loaded?: true };
}

function run(page: Page): void {
  const settings = readSettings();
  listen(settings.debug);
  if (page.svc?.loaded) return say("included twice");
  if (!(settings.programId > 0)) return warn("the script tag needs data-svc-program-id, the program's number");
  const early = page.svc?.q;
  const svc = start(settings);
  const answer = ([method, args, resolve]: Early) => {
    const done = (svc[method] as ((...args: unknown[]) => unknown) | undefined)?.(...args);
    resolve?.(done);
  };
  page.svc = Object.assign(page.svc ?? {}, svc, { loaded: true as const, q: { push: answer } });
  for (const call of (early ?? []) as Early[]) answer(call);
}

function begin(): void {
  try {
    run(window as Page);
  } catch (error) {
    say("failed:", error);
  }
}

begin();
