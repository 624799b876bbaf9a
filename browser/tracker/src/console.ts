// Debug mode: what the tracker does, and why, in the page's console.

let listening = false;

export function listen(debug: boolean): void {
  listening = debug;
}

/** Say something in debug mode. */
export function say(...what: unknown[]): void {
  if (listening) console.info("[svc]", ...what);
}

/** Say what only a mistake in the page explains, debug mode or not. */
export function warn(...what: unknown[]): void {
  console.warn("[svc]", ...what);
}
