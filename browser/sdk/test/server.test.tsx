// @vitest-environment node
// On the server: nothing happens, nothing throws.

import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import { loadSvc } from "../src/index.js";
import { SvcTracker, useSvc } from "../src/next.js";
import { SvcProvider } from "../src/react.js";

test("loading gives a tracker that does nothing", async () => {
  const svc = loadSvc(7);

  expect(await svc.signup("user-1")).toMatchObject({ success: false, reason: "server" });
  expect(svc.consent()).toBeUndefined();
  expect(svc.decorate("https://b.example/")).toBe("https://b.example/");
  expect("window" in globalThis).toBe(false);
});

test("components render what is inside them", () => {
  function Link() {
    return <a href={useSvc().decorate("https://b.example/")}>b</a>;
  }

  const html = renderToString(<SvcProvider programId={7}><SvcTracker programId={7} /><Link /></SvcProvider>);

  expect(html).toBe('<a href="https://b.example/">b</a>');
});
