// The SDK without a framework.

export { loadSvc, type Options } from "./load.js";
export type { Answer, Svc } from "./svc.js";

/** The name of the cookie whose value your server sends as `click_id` with a lead. */
export const CLICK_COOKIE = "svc_click_id";
