// What the script tag says: which program, where its service is, and how the tracker should behave.

export interface Settings {
  programId: number;
  apiBase: string;
  debug: boolean;
  consentRequired: boolean;
}

/** Read the tag that is being executed; a tag without a program gives NaN as its id. */
export function readSettings(): Settings {
  const tag = document.currentScript ?? document.querySelector("script[data-svc-program-id]");
  const said = (name: string) => tag?.getAttribute(`data-svc-${name}`) ?? null;
  const source = (tag as HTMLScriptElement | null)?.src ?? "";
  const debug = said("debug");
  return {
    programId: Number(said("program-id") || NaN),
    apiBase: (said("api-base") ?? source.replace(/\/js\/[^/]*$/, "")).replace(/\/+$/, ""),
    debug: debug !== null && debug !== "false",
    consentRequired: said("consent") === "required",
  };
}
