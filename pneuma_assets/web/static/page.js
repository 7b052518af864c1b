// What pages do beyond links and forms, which work without it: search as people type, suggestions,
// copying, the switch of colours. Whatever the server sends as HTML is escaped there.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const input = $("#q"), form = $("#ask"), results = $("#results"), list = $("#suggestions"), live = $("#live");
const PAUSE = 250, LEAST = 2, FOLLOW = 1500;
let timer, asking, suggesting, chosen = -1, isTyping = false, address = location.pathname + location.search;

const say = (text) => { live.textContent = ""; setTimeout(() => { live.textContent = text; }, 50); };
const busy = (is) => { document.body.classList.toggle("busy", is); results?.setAttribute("aria-busy", is); };
const store = (name, value) => { document.cookie = `${name}=${value};path=/;max-age=31536000;samesite=lax`; };
const stored = (name) => document.cookie.split("; ").includes(name);

async function fetched(address, signal) {
  const response = await fetch(address, { signal, headers: { Accept: "text/html" } });
  const text = await response.text();
  if (response.ok) return text;
  const page = new DOMParser().parseFromString(text, "text/html");
  throw new Error($("[role=alert]", page)?.textContent.trim() || `The server answered ${response.status}.`);
}

// Results

function query() {
  const given = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    const isDefault = (name === "tab" && value === "tables") || (name === "sort" && value === "name");
    if ((value.trim() || name === "schema") && !isDefault) given.append(name, value);
  }
  return given;
}

function show(html) {
  const at = document.activeElement, isInside = results.contains(at) && at.name;
  const isOpen = [...results.querySelectorAll(".facets details")].map((one) => one.open);
  results.innerHTML = html;
  results.querySelectorAll(".facets details").forEach((one, at) => { one.open = isOpen[at] ?? one.open; });
  if (isInside) {
    [...results.querySelectorAll("input, select")].find((one) => one.name === at.name && one.value === at.value)?.focus();
  }
  enhance(results);
}

async function search(given, isNew, more = "") {
  asking?.abort();
  const mine = asking = new AbortController();
  address = `/?${given}`.replace(/\?$/, "");
  if (isNew) history.pushState(null, "", address); else history.replaceState(null, "", address);
  busy(true);
  try {
    const asksTables = given.get("q") && !given.get("tab");
    if (asksTables && isTyping) show(await fetched(`/results?${given}&words=1`, mine.signal));
    show(await fetched(`/results?${given}${more}`, mine.signal));
    say($("#found")?.textContent ?? "");
  } catch (error) {
    if (error.name === "AbortError") return;
    const notice = document.createElement("div");
    notice.className = "notice bad failed";
    notice.textContent = `The search failed. ${error.message}`;
    $(".failed")?.remove();
    results.prepend(notice); // what was found before stays, and the filters to go back by
    say(notice.textContent);
  }
  if (mine === asking) busy(false);
}

// Suggestions: a combobox with a list (ARIA 1.2)

function close() {
  list.hidden = true;
  chosen = -1;
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
}

async function suggest(text) {
  suggesting?.abort();
  if (text.trim().length < LEAST) return close();
  const mine = suggesting = new AbortController();
  try {
    list.innerHTML = await fetched(`/suggestions?q=${encodeURIComponent(text.slice(0, 200))}`, mine.signal);
  } catch (error) {
    if (error.name !== "AbortError") close();
    return;
  }
  if (document.activeElement !== input || !list.children.length) return close();
  chosen = -1;
  list.hidden = false;
  input.setAttribute("aria-expanded", "true");
}

function choose(step) {
  const options = [...list.children];
  const places = options.length + 1; // and none of them
  chosen = ((chosen + 1 + step + places) % places) - 1;
  options.forEach((one, place) => one.setAttribute("aria-selected", String(place === chosen)));
  if (chosen < 0) return input.removeAttribute("aria-activedescendant");
  input.setAttribute("aria-activedescendant", options[chosen].id);
  options[chosen].scrollIntoView({ block: "nearest" });
}

function take(option) {
  close();
  if (option.dataset.href) return location.assign(option.dataset.href);
  input.value = option.dataset.text;
  form.requestSubmit();
}

function typed() {
  const wasTyping = isTyping;
  isTyping = true;
  clearTimeout(timer);
  timer = setTimeout(() => {
    suggest(input.value);
    const given = query(), length = input.value.trim().length;
    const isQuick = !given.get("tab") || given.get("tab") === "columns";
    if (results && isQuick && (length >= LEAST || !length)) search(given, !wasTyping, "&typed=1");
  }, PAUSE);
}

function pressed(event) {
  if (event.key === "Escape" && !list.hidden) { event.preventDefault(); return close(); }
  if (list.hidden) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    choose(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter" && chosen >= 0) {
    event.preventDefault();
    take(list.children[chosen]);
  }
}

function submitted(event) {
  clearTimeout(timer);
  suggesting?.abort();
  close();
  const given = query(), isSlow = ["groups", "answer"].includes(given.get("tab"));
  event.preventDefault();
  if (!results || isSlow || $(".hero")) { busy(true); return location.assign(`/?${given}`); }
  const isNew = `/?${given}` !== address;
  isTyping = false;
  search(given, isNew, "&asked=1");
}

// A conversation whose turn is open: what happens is shown as it does, unless somebody writes there

const isWritten = (part) => [...part.querySelectorAll("textarea, input[type=text], input[type=file]")].some((one) => one.value !== one.defaultValue);

async function follow() {
  const talk = $("[data-open]");
  if (!talk) return;
  try {
    const page = new DOMParser().parseFromString(await fetched(talk.dataset.open), "text/html");
    const now = $("#talk", page);
    if (now.dataset.last !== talk.dataset.last || !now.dataset.open) {
      const wasHere = talk.contains(document.activeElement), state = $("#state");
      talk.replaceWith(now);
      if (!isWritten(state)) state.replaceWith($("#state", page));
      enhance(document);
      if (wasHere) $("#say")?.focus();
      say([...$(".log > div").children].at(now.dataset.open ? -2 : -1).textContent);
    }
  } catch (error) { say(`What happens is not known now. ${error.message}`); }
  setTimeout(follow, FOLLOW);
}

// Small helpers of all pages

function enhance(within) {
  for (const one of within.querySelectorAll(".needs-script")) one.hidden = false;
  for (const one of within.querySelectorAll(".needs-no-script")) one.hidden = true;
}

async function copy(button) {
  const from = document.getElementById(button.dataset.copy), text = from.value ?? from.textContent;
  try {
    await navigator.clipboard.writeText(text);
    say("Copied");
    button.textContent = "Copied";
  } catch {
    if (from.select) from.select(); else getSelection().selectAllChildren(from);
    say("Selected; copy it with your keyboard");
    button.textContent = "Selected";
  }
}

function switchColours() {
  const root = document.documentElement, isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = (root.dataset.theme ?? (isDark ? "dark" : "light")) === "dark" ? "light" : "dark";
  root.dataset.theme = theme;
  store("theme", theme);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]"), option = event.target.closest("[role=option]");
  if (button) copy(button);
  else if (option) take(option);
  else if (event.target.closest("#back") && history.length > 1) {
    event.preventDefault(); // so that the browser fills in what was written there
    history.back();
  } else if (event.target.closest("#theme")) switchColours();
  else if (event.target.closest("#done button")) $("#done").remove();
  else if (event.target.closest("a[data-slow]")) busy(true);
});
document.addEventListener("keydown", (event) => {
  const isTypingElsewhere = event.target.matches("input, textarea, select") || event.metaKey || event.ctrlKey || event.altKey;
  if (event.key !== "/" || isTypingElsewhere || !$("#slash").checked || !input) return;
  event.preventDefault();
  input.focus();
  input.select();
});
document.addEventListener("change", (event) => {
  if (event.target.id === "slash") store("slash", event.target.checked ? "on" : "off");
  else if (results && event.target !== input && event.target.form === form) { isTyping = false; search(query(), true); }
});
document.addEventListener("submit", (event) => { if (event.target.matches("[data-slow]")) busy(true); });
addEventListener("popstate", () => { if (location.pathname + location.search !== address) location.reload(); });
addEventListener("pageshow", () => busy(false));
if (input) {
  input.addEventListener("input", typed);
  input.addEventListener("keydown", pressed);
  input.addEventListener("blur", () => { close(); isTyping = false; });
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the box keeps the focus
  form.addEventListener("submit", submitted);
}
$("#slash").checked = !stored("slash=off");
enhance(document);
if ($("[data-open]")) setTimeout(follow, FOLLOW);
if ($("#done")) say($("#done p").textContent);
