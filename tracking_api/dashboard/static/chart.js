// The chart of results: one figure at a time, chosen by the tiles, from the data in the page. The table has it, too.
"use strict";

const HEIGHT = 280;
const LABEL = { hour: 56, day: 62, week: 62, month: 74 }; // pixels, with the space between two labels
const DRAGGED = 6; // pixels: less is a click
const place = document.getElementById("chart");
const reading = document.getElementById("chart-value");
const data = JSON.parse(document.getElementById("chart-data").textContent);
const count = data.lengths.length;
const isHourly = data.unit === "hour";
const isFixed = isHourly || "fixed" in place.dataset; // no other days to choose
const steps = data.lengths.map((_, n) => n);
const HOUR = 36e5, DAY = 24 * HOUR;
const starts = [Date.parse(data.first)]; // of every step, and of what would follow the last
for (const length of data.lengths) starts.push(starts.at(-1) + length * (isHourly ? HOUR : DAY));
const locale = document.documentElement.dataset.locale;
const chosen = () => document.querySelector("[data-figure][aria-current]");
let figure = data.figures[chosen().dataset.figure];
let chart;

const colour = (name) => {
  place.style.color = `var(${name})`; // a canvas needs the one colour of a token's light and dark
  return getComputedStyle(place).color;
};
const format = (options) => new Intl.NumberFormat(locale, options);
const isMoney = () => figure.kind === "money";

const major = (value) => (value == null ? null : isMoney() ? value / 10 ** data.digits : value);

function written(value, compact) {
  const short = compact && Math.abs(value) >= 1000 && { notation: "compact", maximumFractionDigits: 2 };
  if (isMoney()) {
    const style = { style: "currency", currency: data.currency, minimumFractionDigits: 0, maximumFractionDigits: data.digits };
    return format({ ...style, ...(value % 1 && { minimumFractionDigits: data.digits }), ...short }).format(value);
  }
  return format({ maximumFractionDigits: 2, ...short }).format(value) + (figure.kind === "percent" ? "%" : "");
}

const iso = (at) => new Date(at).toISOString();
const day = (at, options) => new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options }).format(at);
const hour = (at) => iso(at).slice(11, 16);
const tick = (at) => (isHourly ? hour(at) : day(at, data.unit === "month" ? { month: "short" } : { month: "short", day: "numeric" }));

// A step as the table names it.
function named(n) {
  if (isHourly) return `${hour(starts[n])} to ${hour(starts[n + 1])}`;
  const [first, last] = [starts[n], starts[n + 1] - DAY].map((at) => day(at, { dateStyle: "medium" }));
  return first === last ? first : `${first} to ${last}`;
}

// What is over is a solid line, the step that is not over a dashed one, the period before dashed and dim.
function lines() {
  const now = steps.map((n) => major(figure.now[n]));
  const open = data.open;
  const over = now.map((value, n) => (open === null || n < open ? value : null));
  const unfinished = now.map((value, n) => (open !== null && (n === open || n === open - 1) ? value : null));
  return [steps, steps.map((n) => major(figure.before[n])), over, unfinished];
}

// One label a step, as many as there is room for: none over another.
function labelled(drawn) {
  const every = Math.ceil((count * LABEL[data.unit]) / Math.max(drawn.bbox.width / devicePixelRatio, 1));
  return steps.filter((n) => n % every === 0);
}

function label(n, index, all) {
  const year = iso(starts[n]).slice(0, 4);
  const isNew = !isHourly && (index === 0 || iso(starts[all[index - 1]]).slice(0, 4) !== year);
  return tick(starts[n]) + (isNew ? `\n${year}` : "");
}

function read(drawn) {
  const { idx, left } = drawn.cursor;
  reading.hidden = idx == null || left < 0;
  if (reading.hidden) return;
  const [now, before] = [major(figure.now[idx]), major(figure.before[idx])];
  const lead = `${named(idx)}${idx === data.open ? ", so far" : ""}: `;
  const said = [now == null ? "not yet" : written(now, false)];
  if (before != null) said.push(`before: ${written(before, false)}`);
  reading.textContent = lead + said.join(" · ");
  const room = place.clientWidth - reading.offsetWidth;
  const x = drawn.over.offsetLeft + drawn.valToPos(idx, "x") - reading.offsetWidth / 2;
  reading.style.left = `${Math.max(0, Math.min(room, x))}px`;
}

// The range is in the address: a link to it shows the same. A step ends on the day before the next one.
function show(first, last) {
  const address = new URL(location.href);
  address.searchParams.delete("period");
  address.searchParams.set("dateFrom", iso(starts[first]).slice(0, 10));
  address.searchParams.set("dateTo", iso(starts[last + 1] - DAY).slice(0, 10));
  location.assign(address);
}

function choosing(drawn) {
  if (isFixed) return;
  let from = null;
  drawn.over.addEventListener("pointerdown", (event) => { from = event.pointerType === "touch" ? null : event.offsetX; });
  drawn.over.addEventListener("pointerup", (event) => {
    if (from === null || event.target !== drawn.over) return;
    const ends = [from, event.offsetX].sort((a, b) => a - b).map((left) => Math.min(count - 1, Math.max(0, drawn.posToIdx(left))));
    show(ends[0], Math.abs(event.offsetX - from) < DRAGGED ? ends[0] : ends[1]);
  });
}

// The axis has no steps that its labels would write alike: whole numbers, or the smallest amounts of the currency.
function increments() {
  const digits = figure.kind === "count" ? 0 : figure.kind === "money" ? data.digits : 2;
  const powers = Array.from({ length: 9 + digits }, (_, n) => 10 ** (n - digits));
  return powers.flatMap((power) => [1, 2, 5].map((n) => n * power));
}

function options() {
  const axis = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  const line = { stroke: colour("--accent"), width: 2, points: { show: count < 15, size: 6 } };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    padding: [12, 28, 0, null],
    legend: { show: false },
    cursor: { y: false, drag: { x: !isFixed, y: false, setScale: false }, points: { size: 8 } },
    scales: {
      x: { time: false, range: count === 1 ? [-1, 1] : [0, count - 1] },
      y: { range: (_, low, high) => [Math.min(0, low * 1.1), high > 0 ? high * 1.1 : low < 0 ? 0 : 1] },
    },
    axes: [
      { ...axis, grid: { show: false }, splits: labelled, values: (_, splits) => splits.map(label), size: 52, gap: 11 },
      { ...axis, size: 68, incrs: increments(), values: (_, splits) => splits.map((split) => written(split, true)) },
    ],
    series: [
      {},
      { stroke: colour("--line-strong"), width: 1.5, dash: [4, 4], points: { show: false } },
      { ...line, fill: colour("--accent-soft") },
      { ...line, dash: [6, 4] },
    ],
    hooks: { ready: [choosing], setCursor: [read] },
  };
}

function draw() {
  chart?.destroy();
  document.getElementById("chart-title").textContent = `${chosen().querySelector(".label").textContent} per ${data.unit}`;
  chart = new uPlot(options(), lines(), place);
}

for (const tile of document.querySelectorAll("[data-figure]")) {
  tile.addEventListener("click", (event) => {
    event.preventDefault(); // the link leads to the same page, with the chart of this figure
    chosen().removeAttribute("aria-current");
    tile.setAttribute("aria-current", "true");
    history.replaceState(null, "", tile.href);
    figure = data.figures[tile.dataset.figure];
    draw();
  });
}

// Escape closes a definition until the pointer or the focus comes back.
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") document.querySelectorAll(".explained").forEach((each) => each.classList.add("closed"));
});
// F opens the form for a filter.
const adding = document.getElementById("add");
document.addEventListener("keydown", (event) => {
  const isTyped = event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey;
  if (!adding || event.key !== "f" || isTyped) return;
  event.preventDefault();
  adding.open = true;
  document.getElementById("filter-by").focus();
});
for (const event of ["mouseover", "focusin"]) {
  document.addEventListener(event, ({ target }) => target.closest(".explained")?.classList.remove("closed"));
}

new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: HEIGHT })).observe(place);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();
