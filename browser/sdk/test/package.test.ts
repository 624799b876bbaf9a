// @vitest-environment node
// The package as bundlers see it: its entries, what they leave out, and what they do not need.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PACKAGE = JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8"));

async function bundled(code: string): Promise<string> {
  const result = await build({
    stdin: { contents: code, resolveDir: ROOT },
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
    logLevel: "silent",
    external: ["react", "react/jsx-runtime"],
  });
  return result.outputFiles.map((file) => file.text).join("");
}

test("what is not used is left out", async () => {
  expect((await bundled('import { loadSvc } from "svc-sdk"; import "svc-sdk/react"')).trim()).toBe("");
  expect(await bundled('import { CLICK_COOKIE } from "svc-sdk"; console.log(CLICK_COOKIE)')).toBe(
    'var o="svc_click_id";console.log(o);\n',
  );
});

test("without React nothing asks for it", async () => {
  expect(await bundled('import { loadSvc } from "svc-sdk"; loadSvc(7)')).not.toContain("react");
});

test("nothing is installed with it", () => {
  expect(PACKAGE.dependencies).toBeUndefined();
  expect(PACKAGE.peerDependenciesMeta.react.optional).toBe(true);
});

test.each(["react", "next"])("%s stays a client module when it is built", (entry) => {
  expect(readFileSync(`${ROOT}/dist/${entry}.js`, "utf8").startsWith('"use client";')).toBe(true);
});
