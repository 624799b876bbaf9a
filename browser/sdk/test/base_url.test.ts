// loadSvc with one argument: where the URL of the service comes from, and the error that a page without one gets.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { loadSvc } from "../src/index.js";
import { emptyPage, tags } from "./page.js";

beforeEach(() => {
  emptyPage();
  vi.unstubAllEnvs();
});
afterEach(() => void vi.restoreAllMocks());

const META = '<meta name="service-base-url" content="https://meta.example/"><meta name="service-program-id" content="7">';

test.each([
  ["Next.js", "NEXT_PUBLIC_SERVICE_"],
  ["Vite", "VITE_SERVICE_"],
])("%s exposes both as %s", (_, prefix) => {
  vi.stubEnv(`${prefix}BASE_URL`, "https://build.example");
  vi.stubEnv(`${prefix}PROGRAM_ID`, "7");

  loadSvc();

  expect(tags().map((tag) => tag.src)).toEqual(["https://build.example/js/svc-tracker.js"]);
  expect(tags()[0]?.dataset.svcProgramId).toBe("7");
});

test("a page without a build names it in a meta tag", () => {
  vi.stubEnv("VITE_SERVICE_BASE_URL", "");
  document.head.innerHTML = META;

  loadSvc();

  expect(tags().map((tag) => tag.src)).toEqual(["https://meta.example/js/svc-tracker.js"]);
});

test("in a browser, where there is no process, nothing throws", () => {
  vi.stubGlobal("process", undefined);
  document.head.innerHTML = META;

  loadSvc(7);
  vi.unstubAllGlobals();

  expect(tags()).toHaveLength(1);
});

test("the second argument wins", () => {
  vi.stubEnv("NEXT_PUBLIC_SERVICE_BASE_URL", "https://build.example");
  document.head.innerHTML = META;

  loadSvc(7, { baseUrl: "/svc" });

  expect(tags()[0]?.getAttribute("src")).toBe("/svc/js/svc-tracker.js");
});

test("without any of them one error says what to set, and the page's own host gets no request", async () => {
  const error = vi.spyOn(console, "error").mockImplementation(() => undefined);

  const early = loadSvc(7).signup("user-1");
  loadSvc(7);

  expect(tags()).toEqual([]);
  expect(error).toHaveBeenCalledTimes(1);
  for (const name of ["NEXT_PUBLIC_SERVICE_BASE_URL", "VITE_SERVICE_PROGRAM_ID", "service-base-url", "baseUrl"]) {
    expect(error.mock.calls[0]?.[0]).toContain(name);
  }
  expect(await early).toMatchObject({ success: false, reason: "unreachable" });
});
