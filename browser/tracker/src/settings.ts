// What the script tag says: which program, where its service is, and how the tracker should behave.

export interface Settings {
  programId: number;
  calls: string; // the URL of the calls, up to their name
  debug: boolean;
  consentRequired: boolean;
  holds: boolean; // whether a visit waits for consent in sessionStorage, over page loads
}

/** Read the tag that is being executed; a tag without a program gives NaN as its id. */
export function readSettings(): Settings {
  const tag = document.currentScript ?? document.querySelector("script[data-svc-program-id]");
  const said = (name: string) => tag?.getAttribute(`data-svc-${name}`) ?? null;
  const source = (tag as HTMLScriptElement | null)?.src ?? "";
  const debug = said("debug");
  const apiBase = (said("api-base") ?? source.replace(/\/js\/[^/]*$/, "")).replace(/\/+$/, "");
  return {
    programId: Number(said("program-id") || NaN),
    calls: (said("calls") ?? `${apiBase}/api/v1/track`).replace(/\/*$/, "/"),
    debug: debug !== null && debug !== "false",
    consentRequired: said("consent") === "required",
    holds: said("hold") === "session",
  };
}
