// Health of the cluster: how much is used, stranded and free by rack, and how the scheduler keeps up.

import { fill, h, refill } from "./dom.js";
import { ask, store } from "./store.js";
import { amount, noun, percent, seconds } from "./words.js";
import { sortedRacks } from "./view_map.js";

const EVERY = 5000;
const UNITS = [1, 2, 4, 8];

export function healthView(root) {
  const cards = h("dl", { class: "cards" });
  const racks = h("tbody");
  const head = h("tr");
  const rates = h("dl", { class: "cards" });
  fill(root, h("h1", { tabindex: "-1" }, "Health"), cards,
    h("h2", {}, "Scheduler"), rates,
    h("h2", {}, "Racks: the largest gang that would find room now"),
    h("div", { class: "scroll" }, h("table", {},
      h("caption", {}, "Numbers of pods that fit at once, by what each pod requests of this resource alone, on nodes that are open."),
      h("thead", {}, head), racks)));
  let last = null;

  async function measure() {
    if (!cards.isConnected) return;
    let found = { known: false };
    try {
      found = await ask("metrics", {});
    } catch { /* The cards say that nothing is known. */ }
    const before = last;
    last = { at: Date.now(), found };
    fill(rates, found.known ? figures(found, before) : card("Metrics", "not known", "the scheduler's /metrics cannot be read from here"));
    setTimeout(measure, EVERY);
  }
  setTimeout(measure, 0);

  function update() {
    const { data } = store;
    if (!data) return;
    const { cluster } = data;
    const all = sortedRacks(data);
    const stranded = all.reduce((sum, [, rack]) => sum + rack.stranded, 0);
    const waiting = Object.values(data.gangs).filter((one) => one.isWaiting && !one.depth);
    fill(cards,
      card(`${noun(cluster)} in use`, percent(cluster.held, cluster.total), `${amount(cluster.held, cluster)} of ${amount(cluster.total, cluster)}`),
      card("Free", amount(cluster.free, cluster), cluster.reserved ? `${amount(cluster.reserved, cluster)} more are reserved` : "without what is reserved"),
      card("Stranded", amount(stranded, cluster), "free on nodes that are closed, or lack CPU, memory or pod slots"),
      card("Requested by waiting pods", amount(cluster.requested, cluster), `${waiting.length} groups wait`),
      card("Nodes", Object.keys(data.nodes).length.toLocaleString("en"), `${Object.values(data.nodes).filter((one) => one.closed).length} closed or full otherwise`));
    const units = cluster.isGpu ? UNITS : [1000, 4000, 16000];
    fill(head, h("th", { scope: "col" }, "Rack"), h("th", { scope: "col" }, "In use"), h("th", { scope: "col", class: "number" }, "Free"),
      units.map((unit) => h("th", { scope: "col", class: "number" }, `pods of ${amount(unit, cluster)}`)));
    refill(racks, all.slice(0, 400).map(([name, rack]) => h("tr", {}, h("td", {}, name), h("td", {}, meter(rack.total - rack.free, rack.total)),
      h("td", { class: "number" }, amount(rack.free, cluster)), units.map((unit) => h("td", { class: "number" }, fitting(rack, unit))))));
  }
  return { update };
}

export function fitting(rack, unit) {
  return rack.nodes.reduce((sum, node) => sum + Math.floor(node.free / unit), 0);
}

function meter(part, whole) {
  const bar = h("span");
  bar.style.width = `${whole ? (100 * part) / whole : 0}%`;
  return [h("span", { class: "meter", "aria-hidden": "true" }, bar), ` ${percent(part, whole)}`];
}

function card(name, value, note) {
  return h("div", { class: "card" }, h("dt", {}, name), h("dd", {}, value), note ? h("dd", { class: "note" }, note) : null);
}

function figures(found, before) {
  const bound = (one) => (one.found.attempts || {}).scheduled || 0;
  const passed = before && before.found.known ? (Date.now() - before.at) / 1000 : 0;
  const rate = passed ? `${(((found.attempts.scheduled || 0) - bound(before)) / passed).toLocaleString("en", { maximumFractionDigits: 1 })} per s` : "…";
  const total = (numbers) => Object.values(numbers).reduce((sum, one) => sum + one, 0).toLocaleString("en");
  return [
    card("A round of deciding", seconds(found.decideMedian), `median, at most; 99 %: ${seconds(found.decide99)}; longest ${seconds(found.decideLongest)}`),
    card("Wait until bound", seconds(found.waitedMedian), `median of pods, at most; 99 %: ${seconds(found.waited99)}`),
    card("Pods bound", rate, `${(found.attempts.scheduled || 0).toLocaleString("en")} since the start`),
    card("Pending pods", total(found.pending), Object.entries(found.pending).filter(([, number]) => number).map(([name, number]) => `${number} ${name}`).join(", ") || "none"),
    card("Group attempts", total(found.groupAttempts), Object.entries(found.groupAttempts).map(([name, number]) => `${number} ${name}`).join(", ") || "none"),
    card("Refused bindings", found.refusedBindings.toLocaleString("en"), "by the API server"),
  ];
}
