/** Node's own modules, asked for when they are needed: bundlers and runtimes without files go on without them. */

type Files = typeof import("node:fs");
type Paths = typeof import("node:path");

/** The modules for files and paths; null where there are no files. */
export function node(): { fs: Files; path: Paths } | null {
  const builtin = typeof process === "undefined" ? undefined : process.getBuiltinModule;
  return builtin ? { fs: builtin("node:fs"), path: builtin("node:path") } : null;
}
