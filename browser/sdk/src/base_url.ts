// The URL of the service and the program, as each framework exposes SERVICE_BASE_URL and SERVICE_PROGRAM_ID to a page.

declare const process: { env: { NEXT_PUBLIC_SERVICE_BASE_URL?: string; NEXT_PUBLIC_SERVICE_PROGRAM_ID?: string } };

/** Return the URL that the project's build or page sets; undefined if neither does. */
export function found(): string | undefined {
  return (
    exposed(() => process.env.NEXT_PUBLIC_SERVICE_BASE_URL) ||
    exposed(() => import.meta.env.VITE_SERVICE_BASE_URL) ||
    meta("service-base-url")
  );
}

/** Return the program that the project's build or page sets; undefined if neither does. */
export function foundProgram(): number | undefined {
  return (
    Number(
      exposed(() => process.env.NEXT_PUBLIC_SERVICE_PROGRAM_ID) ||
        exposed(() => import.meta.env.VITE_SERVICE_PROGRAM_ID) ||
        meta("service-program-id"),
    ) || undefined
  );
}

function meta(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content || undefined;
}

/** Return what a build put in place of an expression; where there was no such build, evaluating it fails. */
function exposed(expression: () => string | undefined): string | undefined {
  try {
    return expression();
  } catch {
    return undefined;
  }
}
