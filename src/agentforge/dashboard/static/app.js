// The dashboard without a framework: theme, live parts, keys, times. Every page works without it, too, only not live.
"use strict";

const THEMES = ["auto", "light", "dark"];
const POLICY = window.trustedTypes
  ? window.trustedTypes.createPolicy("agentforge", { createHTML: (text) => text })
  : { createHTML: (text) => text };

function theme() {
  const kept = localStorage.getItem("theme");
  return THEMES.includes(kept) ? kept : "auto";
}

function applyTheme() {
  document.documentElement.dataset.theme = theme();
}

function changeTheme() {
  localStorage.setItem("theme", THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]);
  applyTheme();
  labelTheme();
}

function labelTheme() {
  document.getElementById("theme").textContent = { auto: "Auto", light: "Light", dark: "Dark" }[theme()];
}

document.documentElement.classList.add("scripted");
applyTheme();

// -- diffs side by side or as one column; texts to the clipboard

function showDiffForm() {
  const unified = localStorage.getItem("diff") === "unified";
  document.documentElement.dataset.diff = unified ? "unified" : "split";
  for (const button of document.querySelectorAll("[data-do=diff-form]")) button.textContent = unified ? "Side by side" : "Unified";
}

function changeDiffForm() {
  localStorage.setItem("diff", localStorage.getItem("diff") === "unified" ? "split" : "unified");
  showDiffForm();
}

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

function onClick(event) {
  const button = event.target.closest("button");
  if (button?.dataset.copy) copy(button);
  else if (button?.dataset.do === "diff-form") changeDiffForm();
}

showDiffForm();

// -- times: how long ago, the exact one as a title

function ago(date) {
  const seconds = Math.round((Date.now() - date.getTime()) / 1000);
  if (seconds < 60) return seconds < 5 ? "just now" : `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  if (seconds < 30 * 86400) return `${Math.floor(seconds / 86400)} d ago`;
  return date.toISOString().slice(0, 10);
}

function showTimes() {
  for (const element of document.querySelectorAll("time[datetime]")) {
    const date = new Date(element.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    element.title = element.title || date.toISOString().replace("T", " ").slice(0, 19) + " UTC";
    element.textContent = ago(date);
  }
}

// -- live: the server says what changed, the page fetches itself and changes the parts that differ

let source = null;
let fetching = false;
let again = false;
const parts = new Map();

function status(text, kind) {
  const element = document.getElementById("link");
  element.textContent = text;
  element.className = `status ${kind}`;
}

function isBusy(part) {
  // Somebody writes in it, or has written and not sent.
  const fields = [...part.querySelectorAll("textarea, input:not([type=hidden]):not([type=checkbox])")];
  return fields.some((field) => field === document.activeElement || field.value !== field.defaultValue);
}

function swap(part, fresh) {
  const open = new Map([...part.querySelectorAll("details[data-key]")].map((item) => [item.dataset.key, item.open]));
  const rows = [...part.querySelectorAll(".row")];
  const chosen = rows.findIndex((row) => row.contains(document.activeElement));
  part.replaceWith(fresh);
  for (const item of fresh.querySelectorAll("details[data-key]")) {
    if (open.has(item.dataset.key)) item.open = open.get(item.dataset.key);
  }
  if (chosen >= 0) fresh.querySelectorAll(".row")[chosen]?.querySelector(".open")?.focus();
}

async function refresh() {
  if (fetching) {
    again = true;
    return;
  }
  fetching = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (answer.status === 401) return location.reload();
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(POLICY.createHTML(await answer.text()), "text/html");
    for (const fresh of page.querySelectorAll("[data-live]")) {
      const name = fresh.dataset.live;
      const part = document.querySelector(`[data-live="${name}"]`);
      if (!part || parts.get(name) === fresh.outerHTML || isBusy(part)) continue;
      parts.set(name, fresh.outerHTML);
      swap(part, document.importNode(fresh, true));
    }
    showTimes();
    showDiffForm();
  } catch {
    status("offline", "bad");
  } finally {
    fetching = false;
    if (again) {
      again = false;
      setTimeout(refresh, 700);
    }
  }
}

function concerns(names) {
  const task = document.querySelector("[data-task]");
  return !task || names.includes(task.dataset.task);
}

function listen() {
  if (source || document.hidden) return;
  source = new EventSource("/live");
  source.onopen = () => {
    status("live", "good");
    refresh(); // what changed between the page and the stream would be missed
  };
  source.onmessage = (event) => concerns(JSON.parse(event.data)) && refresh();
  source.addEventListener("beat", refresh);
  source.onerror = () => status("connecting", "bad");
}

function rest() {
  // A browser allows few connections to one server: a page that nobody sees gives its own back.
  source?.close();
  source = null;
}

// -- keys

let pressed = "";

function move(by) {
  const rows = [...document.querySelectorAll(".row .open")];
  const at = rows.indexOf(document.activeElement);
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + (at < 0 ? 1 : by)))] ?? rows[0];
  next?.focus();
  next?.closest(".row").scrollIntoView({ block: "nearest" });
}

function tab(by) {
  const tabs = [...document.querySelectorAll(".tabs a")];
  const at = tabs.findIndex((item) => item.getAttribute("aria-current"));
  tabs[at + by]?.click();
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  "/": () => document.getElementById("search")?.select(),
  "[": () => tab(-1),
  "]": () => tab(1),
  n: () => document.querySelector("[rel=next]")?.click(),
  p: () => document.querySelector("[rel=prev]")?.click(),
  c: () => document.querySelector("a[href='/new']")?.click(),
  d: changeDiffForm,
  t: changeTheme,
  "?": () => document.getElementById("help").showModal(),
};
const PLACES = { t: "/", w: "/waiting", c: "/sessions", m: "/measures" };

function onKey(event) {
  const writing = event.target.closest("input, textarea, select, dialog[open]");
  if (writing || event.ctrlKey || event.metaKey || event.altKey) return;
  const place = pressed === "g" && PLACES[event.key];
  pressed = event.key;
  if (place) {
    location.href = place;
  } else if (KEYS[event.key]) {
    event.preventDefault();
    KEYS[event.key]();
  }
}

document.addEventListener("DOMContentLoaded", () => {
  sessionStorage.removeItem("again");
  for (const part of document.querySelectorAll("[data-live]")) parts.set(part.dataset.live, part.outerHTML);
  labelTheme();
  showTimes();
  document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  setInterval(showTimes, 15000);
  document.getElementById("theme").addEventListener("click", changeTheme);
  document.getElementById("keys").addEventListener("click", KEYS["?"]);
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", onClick);
  showDiffForm();
  for (const field of document.querySelectorAll(".filter select")) field.addEventListener("change", () => field.form.submit());
  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : (listen(), refresh())));
  window.addEventListener("pagehide", rest);
  window.addEventListener("pageshow", listen);
  listen();
});
