// The URL of the service, as each framework exposes SERVICE_BASE_URL to a page.

declare const process: { env: { NEXT_PUBLIC_SERVICE_BASE_URL?: string } };

/** Return the URL that the project's build or page sets; undefined if neither does. */
export function found(): string | undefined {
  return (
    exposed(() => process.env.NEXT_PUBLIC_SERVICE_BASE_URL) ||
    exposed(() => import.meta.env.VITE_SERVICE_BASE_URL) ||
    document.querySelector<HTMLMetaElement>('meta[name="service-base-url"]')?.content ||
    undefined
  );
}

/** Return what a build put in place of an expression; where there was no such build, evaluating it fails. */
function exposed(expression: () => string | undefined): string | undefined {
  try {
    return expression();
  } catch {
    return undefined;
  }
}
