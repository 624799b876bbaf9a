// The search box: Ctrl-K or Cmd-K leads to it, results appear while typing, and the arrow keys walk through them.
"use strict";

const form = document.querySelector("form.search");
const input = form?.querySelector("input[name=q]");
const list = form?.querySelector(".suggestions");
const DELAY = 200;
let timer = 0;
let asked = 0;

function close() {
  clearTimeout(timer);
  asked += 1; // a response that is still under way is not shown
  list.hidden = true;
}

async function suggest() {
  const mine = ++asked;
  const body = new URLSearchParams(new FormData(form));
  body.set("csrf", document.querySelector("input[name=csrf]").value);
  const response = await fetch("/search", { method: "POST", body }).catch(() => null); // posted: no URL has the text
  if (mine !== asked || !response?.ok || response.redirected) return;
  list.innerHTML = await response.text(); // our own page, escaped by the server
  list.hidden = false;
}

// Empty, the box shows the pages that were open last; this browser alone keeps them, until someone signs out.
function recent() {
  return JSON.parse(sessionStorage.getItem("recent") ?? "[]");
}

function remember() {
  const here = [location.pathname, document.title.replace(/ · [^·]*$/, "")];
  sessionStorage.setItem("recent", JSON.stringify([here, ...recent().filter(([path]) => path !== here[0])].slice(0, 8)));
}

function showRecent() {
  const shown = document.createElement("ul");
  for (const [href, textContent] of recent().filter(([path]) => path !== location.pathname)) {
    const link = Object.assign(document.createElement("a"), { href, textContent });
    shown.append(document.createElement("li"));
    shown.lastChild.append(link);
  }
  list.replaceChildren(shown);
  list.hidden = !shown.childElementCount;
}

function walk(step) {
  const links = [input, ...list.querySelectorAll("a, button")];
  const next = links[(links.indexOf(document.activeElement) + step + links.length) % links.length];
  next.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && input) {
    event.preventDefault();
    input.focus();
    input.select();
    if (!input.value) showRecent();
  }
});

input?.addEventListener("input", () => {
  clearTimeout(timer);
  if (input.value.trim().length > 1) timer = setTimeout(suggest, DELAY);
  else close();
});
input?.addEventListener("focus", () => { if (!input.value) showRecent(); });
if (!input) sessionStorage.removeItem("recent");
else if (!document.title.startsWith("Search") && !document.querySelector("main .notice.bad")) remember();

form?.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    input.focus();
    close();
  } else if (!list.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    walk(event.key === "ArrowDown" ? 1 : -1);
  }
});

document.addEventListener("focusin", (event) => {
  if (list && !form.contains(event.target)) close();
});
document.addEventListener("click", (event) => {
  if (list && !form.contains(event.target)) close();
});
