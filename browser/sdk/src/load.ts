// Loading the tracker: one script tag on a page, however often and from wherever it is asked for.

import { found, foundProgram } from "./base_url.js";
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
  "svc: the tracker was not loaded, because the URL of the service or the program is not set. Set NEXT_PUBLIC_SERVICE_BASE_URL " +
  "and NEXT_PUBLIC_SERVICE_PROGRAM_ID (Next.js), VITE_SERVICE_BASE_URL and VITE_SERVICE_PROGRAM_ID (Vite), or " +
  '<meta name="service-base-url" content="https://..."> and service-program-id; or pass baseUrl and the program.';

/** Load the tracker of a program, the project's SERVICE_PROGRAM_ID by default; calls made before it is there wait for it. */
export function loadSvc(programId?: number, options: Options = {}): Svc {
  const wanted = present() && !window.svc?.loaded && !document.querySelector("script[data-svc-program-id]");
  if (wanted) load(programId ?? foundProgram(), options);
  return svc;
}

function load(programId: number | undefined, options: Options): void {
  const baseUrl = options.baseUrl ?? found();
  const source = options.scriptUrl ?? (baseUrl !== undefined && `${baseUrl.replace(/\/+$/, "")}/js/svc-tracker.js`);
  if (source && programId) document.head.append(tag(programId, source, options));
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
