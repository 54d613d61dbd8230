// The map view: the cluster, a legend of who holds how much, and who waits.

import { painter, WAYS } from "./colours.js";
import { fill, h, option, refill } from "./dom.js";
import { ClusterMap } from "./map.js";
import { ask, store } from "./store.js";
import { amount, gangLink, noun } from "./words.js";

const SHOWN = 60;
const LAST = Number.MAX_SAFE_INTEGER;

export function mapView(root) {
  let marked = "";
  const map = new ClusterMap({
    onHover: (found) => mark(found ? found.holder : ""),
    onOpen: (id) => { location.hash = gangLink(id); },
  });
  const totals = h("p", { class: "why" });
  const runs = h("ol", { "aria-label": "Who holds it, largest first" });
  const waits = h("ol", { "aria-label": "Who waits, first in the queue first" });
  const racks = h("tbody");
  const colours = h("select", { id: "colours", onchange: (event) => { map.way = event.target.value; map.draw(true); update(); } },
    Object.entries(WAYS).map(([value, text]) => option(value, text, "gang")));
  const zoom = (text, label, act) => h("button", { type: "button", "aria-label": label, onclick: act }, text);
  fill(root,
    h("h1", { tabindex: "-1" }, "Map"),
    h("div", { class: "bar" },
      h("label", {}, "Colours show the", colours),
      zoom("+", "Zoom in", () => map.zoom(1.4)), zoom("−", "Zoom out", () => map.zoom(1 / 1.4)),
      zoom("Fit", "Show the whole cluster", () => map.fit()),
      totals),
    h("div", { class: "split" }, map.element,
      h("div", { class: "side", tabindex: "0", role: "region", "aria-label": "Who runs and who waits" },
        h("h2", {}, "Waits"), waits, h("h2", {}, "Runs"), runs,
        h("details", {}, h("summary", {}, "Free by rack"),
          h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Rack"), h("th", { class: "number" }, "Free"), h("th", { class: "number" }, "Total"))), racks)))));

  let asked = 0;
  async function mark(id) {
    if (id === marked) return;
    marked = id;
    map.mark(id);
    for (const item of root.querySelectorAll(".side li")) item.classList.toggle("marked", item.dataset.id === id);
    await tell(id);
  }

  // Says why a gang waits that is pointed at, and again when that has changed.
  let told = "";
  async function tell(id) {
    const gang = store.data && store.data.gangs[id];
    told = JSON.stringify(gang);
    asked += 1;
    const number = asked;
    if (!gang || !gang.isWaiting) return;
    await new Promise((resolve) => setTimeout(resolve, 150));
    if (number !== asked) return;
    try {
      const found = await ask("gang", { id });
      if (number !== asked) return;
      map.mark(id, found.closest);
      map.tip.textContent = `${gang.name} waits: ${gang.why}. ${lack(found)}`;
    } catch { /* It is gone by now, and the next change of the data says so. */ }
  }

  function row(id, gang, paint, told) {
    const enter = () => mark(id);
    const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = paint(id);
    return h("li", { "data-id": id, class: id === marked ? "marked" : "", onmouseenter: enter, onmouseleave: () => mark("") },
      swatch, h("a", { href: gangLink(id), "data-key": id, onfocus: enter, onblur: () => mark("") }, `${gang.namespace}/${gang.name}`),
      h("span", { class: "why" }, told));
  }

  function update() {
    const { data } = store;
    if (!data) return;
    const { cluster } = data;
    map.show(data);
    map.canvas.setAttribute("aria-label", `Map of ${Object.keys(data.nodes).length} nodes; ${amount(cluster.free, cluster)} of `
      + `${amount(cluster.total, cluster)} ${noun(cluster)} free. Arrow keys go from node to node, Enter opens the gang there, plus and minus zoom.`);
    totals.textContent = `${amount(cluster.held, cluster)} of ${amount(cluster.total, cluster)} ${noun(cluster)} held, `
      + `${amount(cluster.free, cluster)} free, ${amount(cluster.requested, cluster)} requested by waiting pods`;
    const paint = painter(map.way, data);
    const all = Object.entries(data.gangs).filter(([, gang]) => !gang.depth);
    const waiting = all.filter(([, gang]) => gang.isWaiting).sort((a, b) => (a[1].position || LAST) - (b[1].position || LAST));
    const held = holdings(data);
    const running = all.filter(([id]) => held.get(id)).sort((a, b) => held.get(b[0]) - held.get(a[0]));
    refill(waits, list(waiting, ([id, gang]) => row(id, gang, paint, gang.why || gang.state), "Nothing waits."));
    refill(runs, list(running, ([id, gang]) => row(id, gang, paint, `${amount(held.get(id), cluster)} ${noun(cluster)}`), "Nothing runs."));
    refill(racks, rackRows(data));
    if (marked && JSON.stringify(data.gangs[marked]) !== told) tell(marked);
  }
  return { update, map };
}

// The domain that comes closest, or the cluster, and what is missing there.
function lack(found) {
  const where = found.closest ? `Comes closest: ${found.closest}, where ` : "";
  const parts = found.missing.map((one) => `${one.fit} of ${one.pods} pods like ${one.example} find a node`
    + `${one.resource ? `, the others lack ${one.resource}` : ""}`);
  return parts.length ? `${where}${parts.join("; ")}.` : "";
}

function list(entries, make, none) {
  if (!entries.length) return h("li", { class: "empty" }, none);
  const more = entries.length - SHOWN;
  return [entries.slice(0, SHOWN).map(make), more > 0 ? h("li", {}, h("a", { href: "#/queue?state=all" }, `${more} more`)) : null];
}

function holdings(data) {
  const held = new Map();
  for (const node of Object.values(data.nodes)) {
    for (const [id, number] of Object.entries(node.holders)) {
      const root = (data.gangs[id] && data.gangs[id].root) || id;
      held.set(root, (held.get(root) || 0) + number);
    }
  }
  return held;
}

function byRack(data) {
  const racks = new Map();
  for (const [name, node] of Object.entries(data.nodes)) {
    const rack = [node.block, node.rack].filter(Boolean).join(" / ") || "(no rack)";
    const found = racks.get(rack) || { total: 0, free: 0, stranded: 0, nodes: [] };
    const free = Math.max(0, node.total - Object.values(node.holders).reduce((sum, one) => sum + one, 0));
    found.total += node.total;
    found.free += free;
    if (node.closed) found.stranded += free;
    found.nodes.push({ name, free: node.closed ? 0 : free });
    racks.set(rack, found);
  }
  return racks;
}

export function sortedRacks(data) {
  return [...byRack(data)].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
}

function rackRows(data) {
  return sortedRacks(data).map(([name, rack]) => h("tr", {}, h("td", {}, name),
    h("td", { class: "number" }, amount(rack.free, data.cluster)), h("td", { class: "number" }, amount(rack.total, data.cluster))));
}
