// Loading the tracker: one script tag on a page, however often and from wherever it is asked for.

import { abandon, present, svc, type Svc } from "./svc.js";

export interface Options {
  /** Where the service is, such as "https://svc.example"; left out, the page's own origin (a first-party proxy). */
  baseUrl?: string | undefined;
  /** Hold everything until `consent()` is called. */
  consent?: "required" | undefined;
  /** Tell every step and its reason in the console. */
  debug?: boolean | undefined;
  /** The nonce of the page's Content Security Policy, where it wants one. */
  nonce?: string | undefined;
}

/** Load the tracker of a program and return it: calls made before it is there wait for it. */
export function loadSvc(programId: number, options: Options = {}): Svc {
  const wanted = present() && !window.svc?.loaded && !document.querySelector("script[data-svc-program-id]");
  if (wanted) document.head.append(tag(programId, options));
  return svc;
}

function tag(programId: number, { baseUrl = "", consent, debug, nonce }: Options): HTMLScriptElement {
  const script = document.createElement("script");
  script.src = `${baseUrl.replace(/\/+$/, "")}/js/svc-tracker.js`;
  script.async = true;
  script.setAttribute("data-svc-program-id", String(programId));
  if (consent) script.setAttribute("data-svc-consent", consent);
  if (debug) script.setAttribute("data-svc-debug", "");
  if (nonce) script.nonce = nonce;
  script.addEventListener("error", abandon);
  return script;
}
