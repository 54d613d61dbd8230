// What if: a manifest to submit, or a change of the cluster or of a group; answered by the code of posse plan.

import { fill, h, option } from "./dom.js";
import { PlanAnswer } from "./plan.js";
import { store } from "./store.js";

const MOST_CHARACTERS = 40000;
const FIELDS = ["manifest", "namespace", "addNodes", "removeNode", "drain", "without", "of", "priority", "minCount", "noTopology"];

export function whatIfView(root, parameters) {
  const answer = new PlanAnswer();
  const value = (name) => parameters.get(name) || "";
  const input = (name, text, properties) => h("label", {}, text, h("input", { name, value: value(name), autocomplete: "off", ...properties }));
  const manifest = h("textarea", { name: "manifest", id: "manifest", spellcheck: "false", placeholder: "apiVersion: batch/v1\nkind: Job\n…" });
  manifest.value = value("manifest");
  const racks = h("select", { name: "rack" });
  const groups = h("select", { name: "group" });
  const number = h("input", { name: "nodes", type: "range", min: "0", max: "64", value: "0" });
  const shown = h("span", {}, "0");
  number.addEventListener("input", () => { shown.textContent = number.value; });
  const form = h("form", { onsubmit: submit },
    h("div", { class: "two" },
      h("div", {}, h("label", { for: "manifest" }, h("strong", {}, "Submit this manifest")), manifest,
        h("div", { class: "form" }, input("namespace", "Namespace", { placeholder: "default" }))),
      h("div", {},
        h("strong", {}, "Change the cluster"),
        h("div", { class: "form" },
          h("label", {}, h("span", {}, "More nodes: ", shown), number),
          input("like", "Like this node", { list: "node-names" }),
          h("label", {}, "Drain this rack", racks),
          input("drain", "Drain, as in node=NAME or LABEL=VALUE"),
          input("removeNode", "Remove this node", { list: "node-names" }),
          input("without", "Without this workload, as in podgroup/x")),
        h("strong", {}, "Change the workload"),
        h("div", { class: "form" },
          h("label", {}, "Which: the manifest, or this group", groups),
          input("priority", "Priority", { type: "number" }), input("minCount", "minCount", { type: "number", min: "1" }),
          h("label", { class: "check" }, h("input", { type: "checkbox", name: "noTopology", checked: value("noTopology") === "true" }), "without topology")))),
    h("div", { class: "bar" }, h("button", { class: "main", type: "submit" }, "What would happen?"),
      h("button", { type: "reset", onclick: () => { shown.textContent = "0"; } }, "Clear")),
    h("datalist", { id: "node-names" }));
  fill(root, h("h1", { tabindex: "-1" }, "What if"), h("p", { class: "why" }, "The answer is that of posse plan. Nothing is changed in the cluster."), form, answer.element);

  function question() {
    const fields = new FormData(form);
    const asked = {};
    for (const name of FIELDS) if (String(fields.get(name) || "").trim()) asked[name] = String(fields.get(name));
    if (asked.noTopology) asked.noTopology = "true";
    if (Number(number.value)) asked.addNodes = `${number.value}=${fields.get("like") || Object.keys(store.data.nodes)[0]}`;
    const drained = [asked.drain, fields.get("rack") && `rack=${fields.get("rack")}`].filter(Boolean);
    if (drained.length) asked.drain = drained.join(",");
    const group = store.data.gangs[fields.get("group")];
    if (group) {
      asked.of = `${group.kind.toLowerCase()}.${group.form}/${group.name}`;
      asked.namespace = group.namespace;
    }
    return asked;
  }

  async function submit(event) {
    event.preventDefault();
    const asked = question();
    if ((asked.manifest || "").length > MOST_CHARACTERS) {
      answer.element.hidden = false;
      fill(answer.told, h("p", { class: "error" }, "The manifest is too long for the page; use posse plan -f FILE."));
      return;
    }
    await answer.ask(asked, asked.manifest ? "this manifest" : "these changes");
  }

  let filled = "";
  function update() {
    const { data } = store;
    if (!data) return;
    answer.update();
    const names = Object.keys(data.nodes);
    const known = [...new Set(Object.values(data.nodes).map((one) => one.rack).filter(Boolean))].sort();
    const gangs = Object.entries(data.gangs).filter(([, one]) => one.isWaiting).slice(0, 500);
    const now = JSON.stringify([names.length, known, gangs.map(([id]) => id)]);
    if (now === filled) return;
    filled = now;
    const [rack, group] = [racks.value, groups.value];
    fill(racks, option("", "none", rack), known.map((one) => option(one, one, rack)));
    fill(groups, option("", "the manifest", group), gangs.map(([id, one]) => option(id, `${one.namespace}/${one.name}`, group)));
    fill(form.querySelector("datalist"), names.slice(0, 1000).map((one) => h("option", { value: one })));
  }
  return { update, answer };
}
