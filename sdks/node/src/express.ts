/** Express: `app.use(tracking())`, then `await req.track.lead(...)` in a handler. */

import type { Options } from "./settings.js";
import { Track } from "./track.js";

declare global {
  namespace Express {
    interface Request {
      /** Reports for the visitor of this request. */
      track: Track;
    }
  }
}

/** A middleware that gives each request a `track`. */
export function tracking(options: Options = {}) {
  const shared = new Track(options);
  return (request: { headers: { cookie?: string | undefined } }, _: unknown, next: () => void): void => {
    (request as unknown as { track: Track }).track = shared.of({ cookie: request.headers.cookie });
    next();
  };
}
