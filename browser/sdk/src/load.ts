// Loading the tracker: one script tag on a page, however often and from wherever it is asked for.

import { found } from "./base_url.js";
import { abandon, present, svc, type Svc } from "./svc.js";

export interface Options {
  /** The URL of the service, such as "https://svc.example" or "/svc" (a proxy); default: the project's SERVICE_BASE_URL. */
  baseUrl?: string | undefined;
  /** The URL of the script and of the calls, up to their names, where a proxy has renamed them; instead of baseUrl. */
  scriptUrl?: string | undefined;
  callsUrl?: string | undefined;
  /** Hold everything until `consent()` is called. */
  consent?: "required" | undefined;
  /** Tell every step and its reason in the console. */
  debug?: boolean | undefined;
  /** The nonce of the page's Content Security Policy, where it wants one. */
  nonce?: string | undefined;
}

const NOT_SET =
  "svc: the tracker was not loaded, because the URL of the service is not set. Set NEXT_PUBLIC_SERVICE_BASE_URL (Next.js), " +
  'VITE_SERVICE_BASE_URL (Vite) or <meta name="service-base-url" content="https://...">, or pass baseUrl.';

/** Load the tracker of a program and return it: calls made before it is there wait for it. */
export function loadSvc(programId: number, options: Options = {}): Svc {
  const wanted = present() && !window.svc?.loaded && !document.querySelector("script[data-svc-program-id]");
  if (wanted) load(programId, options);
  return svc;
}

function load(programId: number, options: Options): void {
  const baseUrl = options.baseUrl ?? found();
  const source = options.scriptUrl ?? (baseUrl !== undefined && `${baseUrl.replace(/\/+$/, "")}/js/svc-tracker.js`);
  if (source) document.head.append(tag(programId, source, options));
  else if (abandon()) console.error(NOT_SET);
}

function tag(programId: number, source: string, { callsUrl, consent, debug, nonce }: Options): HTMLScriptElement {
  const script = document.createElement("script");
  script.src = source;
  script.async = true;
  script.setAttribute("data-svc-program-id", String(programId));
  if (callsUrl) script.setAttribute("data-svc-calls", callsUrl);
  if (consent) script.setAttribute("data-svc-consent", consent);
  if (debug) script.setAttribute("data-svc-debug", "");
  if (nonce) script.nonce = nonce;
  script.addEventListener("error", abandon);
  return script;
}
