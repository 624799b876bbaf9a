// The overview's chart: drawn from the table of days below it, one metric at a time, chosen by the tiles.
"use strict";

const HEIGHT = 260;
const locale = document.documentElement.dataset.locale;
const table = document.getElementById("days");
const place = document.getElementById("chart");
const value = document.getElementById("chart-value");
const rows = [...table.tBodies[0].rows];
const days = rows.map((row) => Date.parse(`${row.dataset.day}T00:00:00Z`) / 1000);
const longDay = new Intl.DateTimeFormat(locale, { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
let metric = { name: "clicks", title: "Clicks" };
let chart;

function colour(name) {
  place.style.color = `var(${name})`; // a canvas needs the one colour of a token's light and dark
  return getComputedStyle(place).color;
}

function numbers(name) {
  const attribute = `data-${name.replace("_", "-")}`;
  return rows.map((row) => Number(row.querySelector(`[${attribute}]`).getAttribute(attribute)));
}

function written(compact) {
  const money = metric.name.endsWith("_cents");
  const style = money ? { style: "currency", currency: table.dataset.currency } : {};
  return new Intl.NumberFormat(locale, { ...style, ...(compact && { notation: "compact", maximumFractionDigits: 1 }) });
}

function hovered(drawn) {
  const at = drawn.cursor.idx;
  value.textContent = at == null ? "" : `${longDay.format(days[at] * 1000)}: ${written(false).format(drawn.data[1][at])}`;
}

function options() {
  const axis = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  const few = days.length === 1;
  return {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    scales: {
      x: few ? { range: [days[0] - 43200, days[0] + 43200] } : {},
      y: { range: (drawn, low, high) => [0, Math.max(high * 1.1, 1)] },
    },
    axes: [
      { ...axis, grid: { show: false }, space: 70, values: [[86400, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1]] },
      { ...axis, size: 64, values: (drawn, splits) => splits.map((split) => written(true).format(split)), incrs: metric.name.endsWith("_cents") ? undefined : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7, 1e8] },
    ],
    series: [{}, { stroke: colour("--accent"), fill: colour("--accent-soft"), width: 2, points: { show: days.length < 15, size: 6 } }],
    hooks: { setCursor: [hovered] },
  };
}

function draw() {
  chart?.destroy();
  document.getElementById("chart-title").textContent = `${metric.title} per ${table.dataset.unit}`;
  chart = new uPlot(options(), [days, numbers(metric.name)], place);
}

for (const tile of document.querySelectorAll("[data-metric]")) {
  tile.addEventListener("click", () => {
    document.querySelectorAll("[data-metric]").forEach((each) => each.setAttribute("aria-pressed", String(each === tile)));
    metric = { name: tile.dataset.metric, title: tile.querySelector(".label").textContent };
    draw();
  });
}

new ResizeObserver(() => chart && chart.setSize({ width: place.clientWidth, height: HEIGHT })).observe(place);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();
