// Lists: rows by keyboard (J, K, X, Enter, E; ? explains them), of which one takes part in the order of Tab, and row menus.
"use strict";

const KEYS = { "J / K": "Next row, previous row", "X": "Select the row", "Enter": "Open it", "E": "What can be done: with the selected rows, or this one",
  "Ctrl K": "Search, or type a command", "?": "These keys" };
const FOCUSABLE = "a[href], button, input, summary, [tabindex]";
const ROLES = { table: "table", thead: "rowgroup", tbody: "rowgroup", tfoot: "rowgroup", tr: "row", "thead th": "columnheader",
  "tr > th[scope=row]": "rowheader", td: "cell" };
let rows = [];
let current = 0;

function arrange() {
  for (const [part, role] of Object.entries(ROLES)) { // on a phone the rows are no table to every browser
    for (const element of document.querySelectorAll(part === "table" ? "table.list" : `.list ${part}`)) element.setAttribute("role", role);
  }
  rows = [...document.querySelectorAll("table.list tbody tr")];
  rows.forEach((row, index) => {
    if (index !== current) for (const element of row.querySelectorAll(FOCUSABLE)) element.tabIndex = -1;
  });
}

function enter(index, moves) {
  for (const element of rows[current]?.querySelectorAll(FOCUSABLE) ?? []) element.tabIndex = -1;
  current = Math.max(0, Math.min(index, rows.length - 1));
  const inside = [...rows[current].querySelectorAll(FOCUSABLE)];
  for (const element of inside) if (!element.closest("[popover]:not(:popover-open)")) element.tabIndex = 0;
  if (!moves) return;
  inside[0]?.focus();
  rows[current].scrollIntoView({ block: "nearest" });
}

function act() {
  const bar = document.querySelector(":root:has(:is([name=id], [name$=ids]):checked) .bulk");
  (bar?.querySelector("button") ?? rows[current].querySelector("[popovertarget], .tick input, a"))?.focus();
  if (!bar) rows[current].querySelector("[popovertarget]")?.click();
}

function explain() {
  let box = document.querySelector(".keys");
  if (!box) {
    box = Object.assign(document.createElement("div"), { className: "keys", popover: "auto", tabIndex: -1 });
    box.setAttribute("role", "dialog");
    box.setAttribute("aria-label", "Keys");
    box.append(Object.assign(document.createElement("h2"), { textContent: "Keys" }), document.createElement("dl"));
    for (const [key, meaning] of Object.entries(KEYS)) {
      const term = document.createElement("dt");
      term.append(Object.assign(document.createElement("kbd"), { textContent: key }));
      box.lastChild.append(term, Object.assign(document.createElement("dd"), { textContent: meaning }));
    }
    document.body.append(box);
  }
  box.togglePopover();
  box.focus();
}

const ACTIONS = {
  j: () => enter(current + (rows[current].contains(document.activeElement) ? 1 : 0), true),
  k: () => enter(current - 1, true),
  x: () => rows[current].querySelector(".tick input:not(:disabled)")?.click(),
  e: act,
  Enter: () => rows[current].querySelector("th a, td:not(.tick) a")?.click(),
  "?": explain,
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input:not([type=checkbox]), select, textarea");
  const pressed = event.target.matches("a, button, summary") && event.key === "Enter";
  if (typing || pressed || event.ctrlKey || event.metaKey || event.altKey || !ACTIONS[event.key]) return;
  if (event.key !== "?" && !rows.length) return;
  event.preventDefault();
  ACTIONS[event.key]();
});

document.addEventListener("focusin", (event) => {
  const index = rows.indexOf(event.target.closest("table.list tbody tr"));
  if (index >= 0 && index !== current) enter(index, false);
});
document.addEventListener("htmx:afterSettle", arrange);
arrange();

// A menu opens below its button, or above it where there is no room.
document.addEventListener("toggle", (event) => {
  if (event.newState !== "open" || !event.target.matches(".list [popover]")) return;
  const box = event.target.previousElementSibling.getBoundingClientRect();
  const { offsetWidth, offsetHeight, style } = event.target;
  style.left = `${Math.max(8, box.right - offsetWidth)}px`;
  style.top = `${box.bottom + offsetHeight > innerHeight ? Math.max(8, box.top - offsetHeight) : box.bottom}px`;
}, true);
