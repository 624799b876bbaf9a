// React and Next.js: loaded once under strict mode, calls from children's effects answered, one stable object.

import { StrictMode, act, useEffect, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { beforeEach, expect, test, vi } from "vitest";
import { SvcTracker } from "../src/next.js";
import { SvcProvider, useSvc } from "../src/react.js";
import type { Answer, Svc } from "../src/index.js";
import { emptyPage, tags, trackerArrives } from "./page.js";

vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
beforeEach(emptyPage);

async function render(element: ReactNode): Promise<(element: ReactNode) => Promise<void>> {
  const root = createRoot(document.body.appendChild(document.createElement("div")));
  const show = (shown: ReactNode) => act(async () => root.render(<StrictMode>{shown}</StrictMode>));
  await show(element);
  return show;
}

test("the provider loads the tracker once under strict mode, and shows what is inside", async () => {
  await render(<SvcProvider programId={7} baseUrl="https://svc.example">shop</SvcProvider>);

  expect(tags().map((tag) => tag.dataset.svcProgramId)).toEqual(["7"]);
  expect(document.body.textContent).toBe("shop");
});

test("the Next.js component loads the tracker once and shows nothing", async () => {
  await render(<SvcTracker programId={7} consent="required" />);

  expect(tags().map((tag) => tag.dataset.svcConsent)).toEqual(["required"]);
  expect(document.body.textContent).toBe("");
});

test("mounted, taken away and mounted again there is one tag", async () => {
  const show = await render(<SvcTracker programId={7} />);
  await show(null);
  await show(<SvcTracker programId={7} />);

  expect(tags()).toHaveLength(1);
});

test("a child's effect may call before the provider has loaded anything", async () => {
  const answers: Promise<Answer>[] = [];
  function Welcome() {
    const svc = useSvc();
    useEffect(() => void answers.push(svc.signup("user-1")), [svc]);
    return null;
  }
  await render(<SvcProvider programId={7}><Welcome /></SvcProvider>);

  trackerArrives();

  const reasons = (await Promise.all(answers)).map((answer) => answer.reason);
  expect(reasons).toEqual(["no_click", "no_click"]); // strict mode runs an effect twice
});

test("the hook gives the same object at every render", async () => {
  const seen = new Set<Svc>();
  function Seen({ n }: { n: number }) {
    seen.add(useSvc());
    return n;
  }
  const show = await render(<Seen n={1} />);

  await show(<Seen n={2} />);

  expect(document.body.textContent).toBe("2");
  expect(seen.size).toBe(1);
});
