// The queue view: groups in order, with position, age, forecast and reason, filtered by what the address says.

import { fill, h, option, refill } from "./dom.js";
import { store } from "./store.js";
import { age, gangLink, ready, starts, stateClass } from "./words.js";

const STEP = 200;
const SIZES = { "": "any size", 1: "1 pod", 2: "2 or more pods", 9: "9 or more pods", 65: "65 or more pods" };

export function queueView(root, parameters) {
  let shown = STEP;
  const chosen = { q: parameters.get("q") || "", ns: parameters.get("ns") || "", state: parameters.get("state") || "waiting", size: parameters.get("size") || "" };
  const body = h("tbody");
  const count = h("p", { class: "why", role: "status" });
  const more = h("button", { type: "button", onclick: () => { shown += STEP; update(); } }, "Show more");
  const namespaces = h("select", { id: "ns" });
  const states = h("select", { id: "state" });
  const sizes = h("select", { id: "size" }, Object.entries(SIZES).sort((a, b) => Number(a[0]) - Number(b[0])).map(([value, text]) => option(value, text, chosen.size)));
  const search = h("input", { id: "search", type: "search", value: chosen.q, placeholder: "name, owner or reason", "aria-keyshortcuts": "/" });
  const choose = () => {
    Object.assign(chosen, { q: search.value, ns: namespaces.value, state: states.value, size: sizes.value });
    const query = new URLSearchParams(Object.entries(chosen).filter(([, value]) => value));
    history.replaceState(null, "", `#/queue?${query}`);
    shown = STEP;
    update();
  };
  for (const one of [namespaces, states, sizes]) one.addEventListener("change", choose);
  search.addEventListener("input", choose);
  fill(root,
    h("h1", { tabindex: "-1" }, "Queue"),
    h("form", { class: "bar", role: "search", onsubmit: (event) => event.preventDefault() },
      h("label", {}, "Search", search), h("label", {}, "Namespace", namespaces), h("label", {}, "State", states), h("label", {}, "Size", sizes)),
    count,
    h("div", { class: "scroll" }, h("table", {},
      h("caption", {}, "Groups in the order in which they are tried: by priority, then by age."),
      h("thead", {}, h("tr", {}, ["#", "Group", "State", "Ready", "GPUs", "Priority", "Age", "Starts", "Why", "Owner"].map((name) =>
        h("th", { scope: "col", class: ["#", "GPUs", "Priority", "Age"].includes(name) ? "number" : name === "Owner" ? "wide" : "" }, name)))),
      body)),
    more);

  function choices(select, values, all, value) {
    const texts = JSON.stringify([values, value]);
    if (select.dataset.texts === texts) return;
    select.dataset.texts = texts;
    fill(select, all, values.map((one) => option(one, one, value)));
    select.value = value;
  }

  function update() {
    const { data, now } = store;
    if (!data) return;
    const gangs = Object.entries(data.gangs);
    choices(namespaces, [...new Set(gangs.map(([, one]) => one.namespace))].sort(), option("", "all", chosen.ns), chosen.ns);
    choices(states, [...new Set(gangs.map(([, one]) => one.state))].sort(), [option("waiting", "all that wait", chosen.state), option("all", "all", chosen.state)], chosen.state);
    const found = filtered(gangs, chosen);
    refill(body, found.slice(0, shown).map(([id, gang]) => line(id, gang, now)));
    const waiting = gangs.filter(([, one]) => one.isWaiting && !one.depth).length;
    count.textContent = `${found.length} of ${gangs.length} groups; ${waiting} wait${found.length ? "" : ". No group matches."}`;
    more.hidden = found.length <= shown;
  }
  return { update, search };
}

export function filtered(gangs, { q, ns, state, size }) {
  const words = q.toLowerCase();
  const fits = (gang) => (!ns || gang.namespace === ns)
    && (state === "all" || (state === "waiting" ? gang.isWaiting : gang.state === state))
    && (!size || (size === "1" ? gang.members === 1 : gang.members >= Number(size)))
    && (!words || `${gang.namespace}/${gang.name} ${gang.owner} ${gang.why}`.toLowerCase().includes(words));
  const roots = new Set(gangs.filter(([, gang]) => fits(gang)).map(([, gang]) => gang.root));
  const position = (gang) => gang.position || Infinity;
  const order = new Map(gangs.filter(([, gang]) => !gang.depth).map(([id, gang]) => [id, gang]));
  return gangs.filter(([, gang]) => roots.has(gang.root) && (fits(gang) || gang.depth > 0))
    .map((entry, index) => ({ entry, index, root: order.get(entry[1].root) || entry[1] }))
    .sort((a, b) => (position(a.root) - position(b.root) || 0) || a.root.created.localeCompare(b.root.created) || a.index - b.index)
    .map((one) => one.entry);
}

function line(id, gang, now) {
  const name = h("td", { class: "name" }, h("a", { href: gangLink(id), "data-key": id }, `${gang.namespace}/${gang.name}`),
    gang.kind === "PodGroup" ? null : h("span", { class: "why" }, gang.kind));
  name.style.paddingLeft = `${8 + 16 * gang.depth}px`;
  return h("tr", {}, h("td", { class: "number" }, gang.position || ""), name,
    h("td", { class: stateClass(gang) }, gang.state), h("td", {}, ready(gang)),
    h("td", { class: "number" }, gang.gpus), h("td", { class: "number" }, gang.priority),
    h("td", { class: "number" }, age(gang.created, now)), h("td", { class: "name" }, starts(gang)), h("td", {}, gang.why), h("td", { class: "wide" }, gang.owner));
}
