// window.svc, what pages see of the tracker: everything here answers, nothing throws.

import type { Settings } from "./settings";
import { type Answer, refused, send } from "./calls";
import { say } from "./console";
import { clickId } from "./cookie";
import { arriving, decorated, holder, pickUp, prepare, tidy } from "./crossing";
import { watchRoutes } from "./routes";
import { click, held, hold, landing } from "./visit";

export interface Svc {
  signup(customerKey?: string | number | null, email?: string | null): Promise<Answer>;
  consent(): void;
  decorate(url: string | URL): string;
}

/** Start tracking this page. */
export function start(settings: Settings): Svc {
  let consented = !settings.consentRequired;
  let grant = () => {};
  const granted = consented || new Promise<void>((resolve) => (grant = resolve));
  let work: Promise<unknown> = Promise.all([granted, shown()]);
  const seen = new Set<string>(); // going back to an address is not another visit

  /** Do one thing after the other, and none before consent. */
  const next = <Done>(step: () => Done | Promise<Done>): Promise<Done> => {
    const done = work.then(step);
    work = done.catch((error) => say("failed:", error));
    return done;
  };

  const look = () => {
    try {
      const token = arriving();
      if (token !== null) {
        void next(() => pickUp(token, settings));
        tidy();
      }
      const waiting = settings.holds && !consented;
      const found = landing() ?? (waiting && held());
      if (!found || seen.has(found.code)) return;
      seen.add(found.code);
      say(`partner code ${found.code} in the address`, consented ? "" : "held until window.svc.consent() is called");
      void next(() => click(settings, found).then(() => waiting && hold(null)));
      if (waiting) hold(found);
    } catch (error) {
      say("failed:", error);
    }
  };

  const lead = (customerKey?: string | number | null, email?: string | null): Answer | Promise<Answer> => {
    const id = clickId();
    if (!id) return refused("no_click", "No partner sent this visitor: there is no lead to record.");
    return send(`${settings.calls}lead`, {
      click_id: id,
      ...(customerKey != null && { customer_key: String(customerKey) }),
      ...(email && { email }),
      additional_data: { program_id: settings.programId },
    });
  };

  const ahead = (event: Event) => {
    const link = (event.target as Element | null)?.closest?.("a");
    if (consented && (holder || (link?.host && link.host !== location.host))) void prepare(settings);
  };

  void next(clickId); // removes a second cookie, if there is one
  watchRoutes(look);
  look();
  for (const type of ["pointerover", "focusin"]) addEventListener(type, ahead);
  return {
    async signup(customerKey, email) {
      const sent = next(() => lead(customerKey, email)).catch(() => refused("failed", "The lead could not be sent."));
      return consented ? sent : refused("consent_required", "The lead is sent if the visitor consents on this page.");
    },
    consent() {
      if (!consented) say("consented");
      consented = true;
      grant();
    },
    decorate(url) {
      let link = url as string;
      void next(() => void prepare(settings));
      try {
        link = String(url);
        if (consented) link = decorated(link);
        else say("link left as it is:", "no consent yet");
      } catch (error) {
        say("link left as it is:", error);
      }
      return link;
    },
  };
}

/** Wait until the visitor sees the page: a browser may load it before they ask for it. */
function shown(): unknown {
  const prerendering = (document as Document & { prerendering?: boolean }).prerendering;
  return prerendering && new Promise((resolve) => document.addEventListener("prerenderingchange", resolve));
}
