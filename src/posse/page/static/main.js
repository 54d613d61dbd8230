// Chooses the view that the address names, keeps it current, and handles keys.

import { isDark } from "./colours.js";
import { fill, h } from "./dom.js";
import { connect, goTo, notify, store, takeToken } from "./store.js";
import { gangView } from "./view_gang.js";
import { healthView } from "./view_health.js";
import { mapView } from "./view_map.js";
import { queueView } from "./view_queue.js";
import { timeView } from "./view_time.js";
import { whatIfView } from "./view_whatif.js";
import { clock } from "./words.js";

const VIEWS = { map: ["Map", mapView], queue: ["Queue", queueView], whatif: ["What if", whatIfView], health: ["Health", healthView], time: ["Time", timeView] };
const main = document.getElementById("main-view");
const views = document.getElementById("views");
const connection = document.getElementById("connection");
const moment = document.getElementById("moment");
let view = null;
let path = "";

function route(isFirst) {
  const [place, query] = location.hash.replace(/^#\/?/, "").split("?");
  if (place === "main-view") return main.focus();
  if (path === place && !isFirst) return undefined;
  path = place;
  const [name, ...rest] = place.split("/");
  const parameters = new URLSearchParams(query || "");
  view = name === "gang" ? gangView(main, parameters, decodeURIComponent(rest.join("/")))
    : (VIEWS[name] || VIEWS.map)[1](main, parameters);
  window.posseView = view;
  main.dataset.view = place;
  for (const link of views.children) {
    const isHere = link.dataset.name === (VIEWS[name] ? name : name === "gang" ? "queue" : "map");
    if (isHere) link.setAttribute("aria-current", name === "gang" ? "true" : "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${name === "gang" ? decodeURIComponent(rest.join("/")) : (VIEWS[name] || VIEWS.map)[0]} – Posse`;
  if (!isFirst) {
    const heading = main.querySelector("h1");
    (heading || main).focus();
  }
  return update();
}

function update() {
  const { live, isConnected, problem } = store;
  const stands = live && live.source && !live.source.isLive;
  let told = stands ? `As of ${clock(live.source.time)}` : "Live";
  if (!isConnected) told = problem || "Connection lost; trying again";
  else if (!live) told = "Reading the cluster";
  if (connection.textContent !== told) connection.textContent = told;
  connection.className = isConnected ? "" : "lost";
  moment.hidden = !store.moment;
  if (store.moment) {
    fill(moment, `The recording at ${clock(store.moment.time)}: map and queue show it.`,
      h("button", { type: "button", onclick: () => goTo("") }, "Back to now"));
  }
  if (view && store.data) view.update();
}

function key(event) {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const number = Number(event.key);
  if (number >= 1 && number <= Object.keys(VIEWS).length) location.hash = `#/${Object.keys(VIEWS)[number - 1]}`;
  else if (event.key === "/") {
    event.preventDefault();
    if (!location.hash.startsWith("#/queue")) {
      location.hash = "#/queue";
      route(false);
    }
    document.getElementById("search")?.focus();
  }
}

takeToken();
fill(views, Object.entries(VIEWS).map(([name, [title]], i) => h("a", { href: `#/${name}`, "data-name": name, "aria-keyshortcuts": String(i + 1) }, title)));
document.getElementById("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  if (view && view.map) view.map.draw(true);
  notify();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (view && view.map) view.map.draw(true); });
addEventListener("hashchange", () => {
  takeToken();
  route(false);
});
addEventListener("keydown", key);
setInterval(() => { if (store.live && store.live.source && store.live.source.isLive) notify(); }, 5000);
store.watchers.add(update);
route(true);
connect();
