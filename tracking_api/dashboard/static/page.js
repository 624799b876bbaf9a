// What every page can do beyond HTML: copy a value, tick a whole list, and lead to what was wrong in a form.
"use strict";

const ROW = "[type=checkbox]:is([name=id], [name$=ids]):enabled";
const rowsOf = (form) => [...form.elements].filter((box) => box.matches(ROW));

async function copy(button) {
  const source = button.previousElementSibling;
  const label = button.firstChild;
  const before = label.textContent;
  try {
    await navigator.clipboard.writeText(source.textContent.trim());
    label.textContent = "Copied";
  } catch {
    if (source.offsetWidth < 2) return prompt("Copy this:", source.textContent.trim()); // no clipboard over plain http
    getSelection().selectAllChildren(source);
    label.textContent = "Selected";
  }
  setTimeout(() => { label.textContent = before; }, 1500);
}

function tickAll(all) {
  for (const box of rowsOf(all.form)) box.checked = all.checked;
}

function addUp(form) {
  const bar = form?.matches(".bulk") ? form : form?.querySelector(".bulk");
  if (!bar) return;
  const rows = rowsOf(form);
  const ticked = rows.filter((box) => box.checked);
  const sum = ticked.reduce((total, box) => total + Number(box.dataset.amount), 0);
  const { currency } = bar.dataset;
  const money = currency && new Intl.NumberFormat(document.documentElement.dataset.locale, { style: "currency", currency });
  bar.querySelector(".sum").textContent = `${ticked.length} selected${money ? `, ${money.format(sum)}` : ""}`;
  for (const all of form.elements) if ("tickAll" in all.dataset) all.checked = ticked.length === rows.length;
}

function opened() {
  return document.querySelectorAll("details.pop[open], details.menu[open]");
}

function openLink() {
  const form = document.querySelector("form[data-link]");
  if (!form || location.hash.length < 20) return; // a one-time link has its token behind the #
  form.elements.token.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  form.submit();
}

openLink();
window.addEventListener("hashchange", openLink);

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (button) copy(button);
  for (const open of opened()) if (!open.contains(event.target)) open.open = false;
});

document.addEventListener("mouseover", (event) => {
  const cut = event.target.closest(".cut");
  if (cut && cut.scrollWidth > cut.clientWidth) cut.title = cut.textContent;
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-tick-all]")) tickAll(event.target);
  if (event.target.matches("input[type=checkbox]")) addUp(event.target.form);
  if (event.target.matches("form[data-send] select")) event.target.form.requestSubmit();
});

document.addEventListener("keydown", (event) => {
  const [open] = opened();
  if (event.key === "Escape" && open) {
    open.open = false;
    open.querySelector("summary").focus();
  }
});

document.querySelector("#problems, #backtest")?.focus();
addUp(document.querySelector("form.bulk, form:has(> .bulk)"));
if (matchMedia("(max-width: 72rem)").matches) {
  document.querySelectorAll(".side [aria-current], .tabs [aria-current]").forEach((link) => {
    link.closest("ul").scrollLeft = link.offsetLeft - 24; // on a phone the menus scroll
  });
}

// The chart is drawn when the page is on the screen: its library first.
const plot = document.querySelector("[data-library]");

function loadChart() {
  for (const src of [plot.dataset.library, plot.dataset.script]) {
    document.head.append(Object.assign(document.createElement("script"), { src, async: false }));
  }
}

if (plot && PerformanceObserver.supportedEntryTypes.includes("paint")) {
  new PerformanceObserver((_, paints) => {
    paints.disconnect();
    loadChart();
  }).observe({ type: "paint", buffered: true });
} else if (plot) {
  loadChart();
}
