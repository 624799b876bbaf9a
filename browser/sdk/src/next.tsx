"use client";
// Next.js: one component for app/layout.tsx (or pages/_app.tsx), and the hook for client components.

import { type SvcProps, useTracker } from "./react.js";

export { useSvc } from "./react.js";

/** Load the tracker; shows nothing. Route changes of the app router are seen by the tracker itself. */
export function SvcTracker(props: SvcProps): null {
  useTracker(props);
  return null;
}
