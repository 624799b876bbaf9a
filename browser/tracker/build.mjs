// Build the tracker into one file: node build.mjs FILE. The same source gives the same bytes.
import { build } from "esbuild";

await build({
  entryPoints: ["src/tracker.ts"],
  absWorkingDir: import.meta.dirname,
  outfile: process.argv[2],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  charset: "utf8",
  legalComments: "none",
  banner: { js: "/* Affiliate tracker, Apache-2.0. Source: browser/tracker */" },
});
