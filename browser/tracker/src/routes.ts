// Pages that change without loading: a single-page app moves through the history.

/** Call `moved` after every change of the address. */
export function watchRoutes(moved: () => void): void {
  for (const name of ["pushState", "replaceState"] as const) {
    const original = history[name];
    history[name] = function (...change) {
      original.apply(this, change);
      moved();
    };
  }
  addEventListener("popstate", moved);
}
