// loadSvc: one script tag, calls that wait, and a page that never notices a tracker that does not come.

import { beforeEach, expect, test, vi } from "vitest";
import { CLICK_COOKIE, loadSvc } from "../src/index.js";
import { emptyPage, tags, trackerArrives } from "./page.js";

beforeEach(emptyPage);

test("the tag names the program and the service", () => {
  loadSvc(7, { baseUrl: "https://svc.example/", consent: "required", debug: true, nonce: "abc" });

  const [tag] = tags();
  expect(tag?.src).toBe("https://svc.example/js/svc-tracker.js");
  expect(tag?.async).toBe(true);
  expect(tag?.nonce).toBe("abc");
  expect(["program-id", "consent", "debug"].map((name) => tag?.getAttribute(`data-svc-${name}`))).toEqual(["7", "required", ""]);
});

test("with an empty address the page's own origin serves the tracker", () => {
  loadSvc(7, { baseUrl: "" });

  expect(tags()[0]?.getAttribute("src")).toBe("/js/svc-tracker.js");
  expect(tags()[0]?.getAttributeNames().sort()).toEqual(["async", "data-svc-program-id", "src"]);
});

test("a proxy may rename the script and the calls", () => {
  loadSvc(7, { scriptUrl: "/assets/visit/app.js", callsUrl: "/assets/visit/" });

  expect(tags()[0]?.getAttribute("src")).toBe("/assets/visit/app.js");
  expect(tags()[0]?.getAttribute("data-svc-calls")).toBe("/assets/visit/");
});

test("however often it is loaded there is one tag", () => {
  const first = loadSvc(7);
  const second = loadSvc(7);

  expect(tags()).toHaveLength(1);
  expect(second).toBe(first);
});

test("a tracker that is there already is used", async () => {
  document.head.innerHTML = '<script src="/js/svc-tracker.js" data-svc-program-id="7"></script>';
  trackerArrives();

  const answer = await loadSvc(7).signup("user-1");

  expect(tags()).toHaveLength(1);
  expect(answer).toMatchObject({ success: false, reason: "no_click" });
});

test("calls made before the tracker is there are answered by it, in their order", async () => {
  const svc = loadSvc(7, { consent: "required" });
  const before = svc.signup("user-1");
  svc.consent();
  const after = svc.signup("user-1");

  trackerArrives();

  expect(await before).toMatchObject({ reason: "consent_required" });
  expect(await after).toMatchObject({ reason: "no_click" });
});

test("links are decorated once the visitor carries a click and the tracker has a token", async () => {
  vi.stubGlobal("fetch", async () => Response.json({ success: true, token: "x.1.2.3" }));
  const svc = loadSvc(7);
  document.cookie = "svc_click_id=x; Path=/";

  const before = svc.decorate("https://b.example/");
  trackerArrives();
  const asking = svc.decorate("https://b.example/");

  await vi.waitFor(() => expect(svc.decorate("https://b.example/")).toBe("https://b.example/?svc_click_id=x.1.2.3"));
  expect([before, asking]).toEqual(["https://b.example/", "https://b.example/"]);
  document.cookie = "svc_click_id=; Path=/; Max-Age=0";
  vi.unstubAllGlobals();
});

test("a link is left as it is until the tracker is there", () => {
  expect(loadSvc(7).decorate(new URL("https://b.example/"))).toBe("https://b.example/");
});

test("a blocked script answers those who wait and those who ask later", async () => {
  const svc = loadSvc(7);
  const early = svc.signup("user-1");

  tags()[0]?.dispatchEvent(new Event("error"));

  expect(await early).toMatchObject({ success: false, reason: "unreachable" });
  expect(await svc.signup("user-1")).toMatchObject({ success: false, reason: "unreachable" });
});

test("a script that neither loads nor fails is given up after a while", async () => {
  vi.useFakeTimers();
  const answer = loadSvc(7).signup("user-1");

  await vi.advanceTimersByTimeAsync(15_000);

  expect(await answer).toMatchObject({ reason: "unreachable" });
  vi.useRealTimers();
});

test("servers read the cookie by its name", () => {
  expect(CLICK_COOKIE).toBe("svc_click_id");
});
