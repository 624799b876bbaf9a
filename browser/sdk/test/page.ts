// What the tests look at in a page, how they empty it, and how the tracker comes into it.

import { readFileSync } from "node:fs";
import { vi } from "vitest";

const TRACKER = "../../tracking_api/static/svc-tracker.js"; // vitest runs in the package's folder

export const SERVICE = "https://svc.example";

/** Take every script, and the tracker, out of the page; scripts that are added load nothing. The build names the service. */
export function emptyPage(): void {
  vi.unstubAllEnvs();
  vi.stubEnv("VITE_SERVICE_BASE_URL", SERVICE);
  document.head.innerHTML = document.body.innerHTML = "";
  delete window.svc;
}

/** Return the tracker's script tags. */
export function tags(): HTMLScriptElement[] {
  return [...document.querySelectorAll<HTMLScriptElement>("script[data-svc-program-id]")];
}

/** Run the tracker, as the browser does once it has loaded the script. */
export function trackerArrives(): void {
  new Function(readFileSync(TRACKER, "utf8"))();
}
