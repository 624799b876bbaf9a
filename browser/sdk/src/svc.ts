// window.svc, whoever put it there: the tracker, or the queue that stands in for it until it has loaded.

/** What the service answered; `reason` beside `success: false` says why nothing was sent. */
export interface Answer {
  success?: boolean;
  provisional?: boolean;
  already_recorded?: boolean;
  reason?: "no_click" | "consent_required" | "unreachable" | "failed" | "server";
  message?: string;
  error?: { code: string; message: string; hint?: string };
}

/** What a page can ask of the tracker. Nothing here throws or rejects. */
export interface Svc {
  /** Send a browser-mode lead: `customerKey` is your own id of the user, the same in your server's calls. */
  signup(customerKey: string, email?: string | undefined): Promise<Answer>;
  /** Say that the visitor agreed; what was held is sent. */
  consent(): void;
  /** Return an address with a token for the visitor's click in it, for a link to another domain of the program. */
  decorate(url: string | URL): string;
}

/** A call that waits for the tracker: the method, what to tell it, and who waits for the answer. */
type Early = ["signup", [string, string | undefined], (answer: Answer) => void] | ["consent", []];

declare global {
  interface Window {
    svc?: Svc & { q?: { push(call: Early): unknown }; loaded?: boolean };
  }
}

const PATIENCE_MS = 15_000;
const UNREACHABLE: Answer = { success: false, reason: "unreachable", message: "The tracker could not be loaded." };
const ON_THE_SERVER: Answer = { success: false, reason: "server", message: "There is no visitor on the server." };

/** The tracker of this page; on the server, one that does nothing. */
export const svc: Svc = {
  signup: async (customerKey, email) => present()?.signup(customerKey, email) ?? ON_THE_SERVER,
  consent: () => present()?.consent(),
  decorate: (url) => present()?.decorate(url) ?? String(url),
};

/** Return `window.svc`, which is a queue until the tracker has loaded; undefined on the server. */
export function present(): Window["svc"] {
  if (typeof window === "undefined") return undefined;
  return (window.svc ??= queue());
}

/** Answer those who wait, and who will ask: there is no tracker on this page. Return whether this was new. */
export function abandon(): boolean {
  const waiting = window.svc?.q;
  if (!window.svc || window.svc.loaded || !Array.isArray(waiting)) return false;
  const answer = (call: Early) => call[2]?.(UNREACHABLE);
  window.svc.q = { push: answer };
  waiting.forEach(answer);
  return true;
}

function queue(): NonNullable<Window["svc"]> {
  const q: Early[] = [];
  return {
    q,
    signup: (customerKey, email) =>
      new Promise((done) => {
        window.svc?.q?.push(["signup", [customerKey, email], done]);
        setTimeout(done, PATIENCE_MS, UNREACHABLE);
      }),
    consent: () => void window.svc?.q?.push(["consent", []]),
    decorate: String,
  };
}
