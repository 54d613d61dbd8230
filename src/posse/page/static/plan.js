// The answer of a plan: what starts, waits or leaves, in words and on a map.

import { fill, h } from "./dom.js";
import { ClusterMap } from "./map.js";
import { ask, store } from "./store.js";

const REFUSED_SHOWN = 5;

export class PlanAnswer {
  constructor() {
    this.map = new ClusterMap({ small: true, label: "Map with the planned pods" });
    this.told = h("div", { role: "status" });
    this.element = h("section", { "aria-label": "Answer", hidden: true }, h("h2", {}, "What would happen"), this.told, this.map.element);
  }

  async ask(question, title) {
    this.element.hidden = false;
    fill(this.told, h("p", { class: "empty" }, `Planning: ${title} …`));
    try {
      const report = await ask("plan", question);
      this.show(report, title);
    } catch (error) {
      this.map.extra = {};
      fill(this.told, h("p", { class: "error" }, error.message));
    }
    this.update();
  }

  show(report, title) {
    const all = [...report.submitted, ...report.affected];
    this.map.extra = {};
    for (const one of all) {
      for (const [node, number] of Object.entries(one.nodes)) this.map.extra[node] = (this.map.extra[node] || 0) + number;
    }
    fill(this.told,
      h("p", {}, h("strong", {}, `${title}: `), "nothing was changed; this is only a preview."),
      all.length ? table(all) : [],
      all.length || report.refused.length ? [] : h("p", {}, "The changes move nothing, and let nothing start."),
      report.refused.slice(0, REFUSED_SHOWN).map((one) => h("p", { class: "error" }, `would not be created: ${one.kind} ${one.namespace}/${one.name}: ${one.why}`)),
      all.filter((one) => one.why || one.victims.length || one.changes.length).map(details));
  }

  update() {
    if (store.data && !this.element.hidden) this.map.show(store.data);
  }
}

function table(all) {
  const cells = ["Group or pod", "Outcome", "Pods placed", "Racks", "Nodes"];
  return h("div", { class: "scroll" }, h("table", { class: "plan" },
    h("thead", {}, h("tr", {}, cells.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, all.map((one) => h("tr", {},
      h("td", {}, `${one.namespace}/${one.name}`),
      h("td", { class: one.outcome === "waits" ? "state waits" : "state runs" }, one.outcome),
      h("td", {}, `${one.placed}/${one.pods}`), h("td", {}, one.racks.join(", ") || "-"),
      h("td", {}, places(one.nodes)))))));
}

function places(nodes) {
  const all = Object.entries(nodes).sort();
  const shown = all.slice(0, 6).map(([name, number]) => `${name} (${number})`).join(", ");
  return all.length > 6 ? `${shown} and ${all.length - 6} more` : shown || "-";
}

function details(one) {
  return h("div", {}, h("h3", {}, `${one.namespace}/${one.name}`),
    h("ul", {},
      one.victims.length ? h("li", {}, `evicts ${one.victims.length}: ${one.victims.join(", ")}`) : null,
      one.why ? h("li", {}, `${one.outcome === "waits" ? "waits" : "the rest"}: ${one.why}`) : null,
      one.changes.map((change) => h("li", {}, `would start with: ${change}`)),
      one.caveat ? h("li", {}, one.caveat) : null));
}
