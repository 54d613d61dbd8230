// One group: its story, remedies that can be previewed, its members, tree and timeline, and its places.

import { fill, h } from "./dom.js";
import { ClusterMap } from "./map.js";
import { PlanAnswer } from "./plan.js";
import { ask, store } from "./store.js";
import { age, clock, gangLink, ready, stateClass } from "./words.js";

const LATER = 3000; // milliseconds; events about a change are written after it

export function gangView(root, parameters, id) {
  const head = h("div");
  const rest = h("div");
  const answer = new PlanAnswer();
  const map = new ClusterMap({ small: true, label: "Where its pods are", onOpen: (other) => { location.hash = gangLink(other); } });
  fill(root, head, answer.element, h("h2", {}, "Where it is"), map.element, rest);
  let known = "";
  let asking = false;
  let again = 0;

  async function load() {
    if (asking) return;
    asking = true;
    try {
      const found = await ask("gang", { id });
      const focused = head.contains(document.activeElement) && document.activeElement.dataset.key;
      fill(head, headOf(found, answer));
      fill(rest, restOf(found));
      map.extra = found.wouldGoTo;
      map.marked = id;
      map.domain = found.closest;
      if (store.data) map.show(store.data);
      const same = focused && [...head.querySelectorAll("[data-key]")].find((one) => one.dataset.key === focused);
      if (same) same.focus();
    } catch (error) {
      missing(error.message);
    }
    asking = false;
  }

  function missing(told = `There is no group ${id} here.`) {
    fill(head, h("h1", { tabindex: "-1" }, "Gang"), h("p", { class: "error" }, told), h("p", {}, h("a", { href: "#/queue?state=all" }, "All groups")));
    fill(rest);
  }

  function update() {
    if (!store.data) return;
    map.show(store.data);
    answer.update();
    const gang = store.data.gangs[id];
    const now = JSON.stringify([gang, store.moment && store.moment.time]);
    if (now === known) return;
    known = now;
    clearTimeout(again);
    if (gang) {
      load();
      again = setTimeout(() => { if (head.isConnected) load(); }, LATER);
    } else missing();
  }
  return { update, answer };
}

function headOf(found, answer) {
  const gang = store.data.gangs[found.id];
  const [first, ...sections] = found.story;
  const advice = sections.filter((one) => one.heading.startsWith("What is in its way"));
  return [
    h("h1", { tabindex: "-1" }, `${found.namespace}/${gang ? gang.name : found.target}`, " ",
      gang ? h("span", { class: stateClass(gang) }, gang.state) : null),
    h("p", { class: "headline" }, first.heading),
    h("pre", {}, first.lines.join("\n")),
    advice.map((one) => [h("h2", {}, one.heading), h("pre", {}, one.lines.join("\n"))]),
    found.remedies.length ? [h("h2", {}, "What would help"),
      h("ul", { class: "remedies" }, found.remedies.map((one) => h("li", {}, one.question
        ? h("button", { type: "button", "data-key": one.text, onclick: () => answer.ask(one.question, one.text) }, `Preview: ${one.text}`)
        : h("span", {}, one.text)))),
      found.caveat ? h("p", { class: "why" }, found.caveat) : null] : null,
  ];
}

function restOf(found) {
  const { data, now } = store;
  const others = found.story.slice(1).filter((one) => !one.heading.startsWith("What is in its way")
    && !one.heading.startsWith("Each of these would") && one.heading !== "Latest events" && one.heading !== "What its status says");
  return [
    others.map((one) => [h("h2", {}, one.heading), h("pre", {}, one.lines.join("\n"))]),
    found.victims.length ? [h("h2", {}, "What left for it"), victims(found.victims)] : null,
    found.tree.length ? [h("h2", {}, "Its tree"), tree(found.tree, data, found.id)] : null,
    h("h2", {}, "Timeline"), timeline(found, data.gangs[found.id], now),
    h("h2", {}, "Members"), members(found.members),
  ];
}

function tree(ids, data, own) {
  const root = h("ul", { class: "tree" });
  const open = [root];
  for (const id of ids) {
    const gang = data.gangs[id];
    if (!gang) continue;
    const item = h("li", {}, id === own ? h("strong", {}, gang.name) : h("a", { href: gangLink(id) }, gang.name), ` ${ready(gang)} `,
      h("span", { class: stateClass(gang) }, gang.state), gang.why ? h("span", { class: "why" }, gang.why) : null);
    (open[Math.min(gang.depth, open.length - 1)]).append(item);
    const below = h("ul", { class: "tree" });
    item.append(below);
    open.length = Math.min(gang.depth, open.length - 1) + 1;
    open.push(below);
  }
  for (const empty of root.querySelectorAll("ul:empty")) empty.remove();
  return root;
}

function timeline(found, gang, now) {
  const steps = [
    ...(gang ? [{ time: gang.created, text: "created" }, { time: gang.started, text: "first pod on a node" }, { time: gang.ended, text: "last pod ended" }] : []),
    ...found.conditions.map((one) => ({ time: one.lastTransitionTime, text: `${one.type}=${one.status} (${one.reason || "-"})${one.message ? `: ${one.message}` : ""}` })),
    ...found.events.map((one) => ({ time: one.last_seen, text: `${one.reason} ${one.kind}/${one.name}${one.objects > 1 ? ` and ${one.objects - 1} more` : ""}: ${one.message}${one.count > 1 ? ` (${one.count} times)` : ""}` })),
  ].filter((one) => one.time).sort((a, b) => a.time.localeCompare(b.time));
  return h("ol", { class: "timeline" }, steps.map((one) =>
    h("li", {}, h("time", { datetime: one.time, title: one.time }, `${clock(one.time)} (${age(one.time, now)} ago)`), one.text)));
}

function victims(left) {
  return h("ul", { class: "victims" }, left.map((one) => h("li", {}, `${one.kind} `, one.kind === "PodGroup"
    ? h("a", { href: "#/queue?state=all&q=" + encodeURIComponent(one.name) }, one.name) : one.name, `: ${one.message}`)));
}

function members(pods) {
  const shown = pods.slice(0, 500);
  return h("div", { class: "scroll" }, h("table", {},
    h("caption", {}, `${pods.length} pods${pods.length > shown.length ? `, the first ${shown.length} shown` : ""}`),
    h("thead", {}, h("tr", {}, ["Pod", "Phase", "Node", "GPUs", "Priority"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, shown.map((pod) => h("tr", {}, h("td", {}, pod.name), h("td", {}, pod.isTerminating ? "Terminating" : pod.phase),
      h("td", {}, pod.node || (pod.nominatedNode ? `waits for ${pod.nominatedNode}` : "-")), h("td", {}, pod.gpus), h("td", {}, pod.priority))))));
}
