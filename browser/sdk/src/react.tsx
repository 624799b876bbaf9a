"use client";
// React: the provider loads the tracker once it is mounted, the hook gives it to any component.

import { type ReactNode, useEffect } from "react";
import { loadSvc, type Options } from "./load.js";
import { svc, type Svc } from "./svc.js";

export interface SvcProps extends Options {
  /** The program; default: the project's SERVICE_PROGRAM_ID. */
  programId?: number | undefined;
}

/** Load the tracker for everything inside; the first provider of a page decides its program and options. */
export function SvcProvider({ children, ...tracker }: SvcProps & { children?: ReactNode }): ReactNode {
  useTracker(tracker);
  return children;
}

/** Return the tracker, always the same object: safe in dependency lists, and before the tracker has loaded. */
export function useSvc(): Svc {
  return svc;
}

/** Load the tracker once the component is in a page; mounted again (strict mode), nothing more happens. */
export function useTracker({ programId, baseUrl, scriptUrl, callsUrl, consent, debug, nonce }: SvcProps): void {
  useEffect(() => {
    loadSvc(programId, { baseUrl, scriptUrl, callsUrl, consent, debug, nonce });
  }, [programId, baseUrl, scriptUrl, callsUrl, consent, debug, nonce]);
}
