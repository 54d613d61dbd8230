// Time: when groups waited and ran, by group or by rack, and what is expected of them; and a scrubber that moves all
// views along a recording.

import { named } from "./colours.js";
import { fill, h, option, svg } from "./dom.js";
import { ask, goTo, store } from "./store.js";
import { clock, gangLink } from "./words.js";

const ROWS = 60;
const ROW = 18;
const LEFT = 210;
const WIDTH = 1000;
const EXPECTED = 300; // The width of what is expected, which has a scale of its own.

export function timeView(root) {
  const chart = h("div", { class: "scroll" });
  const note = h("p", { class: "why", role: "status" });
  const scrubber = h("input", { type: "range", min: "0", max: "1000", value: "1000", id: "scrubber" });
  const at = h("output", { for: "scrubber" });
  const problem = h("p", { class: "error" });
  const by = h("select", { onchange: () => update(true) }, option("gang", "group", "gang"), option("rack", "rack", ""));
  const slide = h("div", { class: "bar", hidden: true }, h("label", {}, "Look at", scrubber), at,
    h("button", { type: "button", onclick: () => { scrubber.value = "1000"; move(""); } }, "Back to now"));
  fill(root, h("h1", { tabindex: "-1" }, "Time"), slide, problem,
    h("div", { class: "bar" }, h("label", {}, "Rows are by", by), note), chart);
  let recorded = null;
  let isAsked = false;
  let drawn = 0;

  async function load() {
    try {
      recorded = await ask("times", {});
    } catch (error) {
      problem.textContent = error.message;
    }
    update(true);
  }

  async function move(time) {
    try {
      problem.textContent = "";
      await goTo(time);
    } catch (error) {
      problem.textContent = error.message;
    }
    update(true);
  }
  const timeAt = () => {
    const [from, to] = [Date.parse(recorded.from), Date.parse(recorded.to)];
    return new Date(from + ((to - from) * Number(scrubber.value)) / 1000).toISOString();
  };
  scrubber.addEventListener("input", () => { at.textContent = clock(timeAt()); });
  scrubber.addEventListener("change", () => move(timeAt()));

  function update(isForced) {
    const { data, live } = store;
    if (!isAsked && live && live.source.hasRecording) {
      isAsked = true;
      load();
    }
    if (!data || (!isForced && Date.now() - drawn < 1000)) return;
    drawn = Date.now();
    slide.hidden = !(live && live.source.hasRecording && recorded);
    if (recorded) at.textContent = store.moment ? clock(store.moment.time) : "now";
    const spans = recorded ? { ...recorded.gangs } : {};
    if (!recorded || live.source.isLive) {
      for (const [id, gang] of Object.entries(live.gangs)) if (!gang.depth || gang.kind === "PodGroup") spans[id] = spanOf(gang);
    }
    const rows = rowsOf(spans, data, by.value).slice(0, ROWS);
    note.textContent = `${Object.keys(spans).length} groups${Object.keys(spans).length > ROWS ? `; the ${ROWS} latest rows are shown` : ""}. Grey: it waits. Coloured: it runs. Right of now, on a scale of its own: the expected end, and dashed the time in which it is expected to start (80 %).`;
    fill(chart, rows.length ? picture(rows, store) : h("p", { class: "empty" }, "Nothing has happened yet."));
  }
  return { update };
}

function rowsOf(spans, data, way) {
  const entries = Object.entries(spans).filter(([, span]) => span.created);
  if (way === "gang") {
    return entries.sort((a, b) => b[1].created.localeCompare(a[1].created)).map(([id, span]) => ({ name: label(id), id, bars: [{ id, span }] }));
  }
  const racks = new Map();
  for (const node of Object.values(data.nodes)) {
    const rack = node.rack || "(no rack)";
    if (!racks.has(rack)) racks.set(rack, new Set());
    for (const id of Object.keys(node.holders)) racks.get(rack).add(id);
  }
  return [...racks].sort().map(([rack, ids]) => ({ name: rack, bars: [...ids].filter((id) => spans[id]).map((id) => ({ id, span: { ...spans[id], created: "" } })) }));
}

function label(id) {
  const [namespace, , , ...name] = id.split("/");
  return `${namespace}/${name.join("/")}`;
}

function spanOf({ created, started, ended, expectedEnd, forecast }) {
  const { earliest = "", latest = "" } = (!started && forecast) || {};
  return { created, started, ended, expectedEnd, earliest, latest };
}

// The times of a chart: the past up to now, and beside it what is expected, if anything is.
function axisOf(rows, now) {
  const spans = rows.flatMap((row) => row.bars.map(({ span }) => span));
  const past = spans.flatMap((span) => [span.created, span.started]).filter(Boolean).map(Date.parse);
  const end = Math.max(now, ...past);
  const start = Math.min(...past, end - 1000);
  const expected = spans.flatMap((span) => [span.expectedEnd, span.latest]).filter(Boolean).map(Date.parse).filter((time) => time > end);
  const last = Math.max(end, ...expected);
  const edge = WIDTH - 10 - (expected.length ? EXPECTED : 0);
  const x = (time) => (time <= end ? LEFT + ((time - start) / (end - start)) * (edge - LEFT) : edge + ((time - end) / (last - end)) * EXPECTED);
  return { start, end, last, x };
}

function marksOf({ start, end, last }) {
  const marks = [0, 1, 2, 3, 4].map((i) => start + ((end - start) * i) / 4);
  return last > end ? [...marks, (end + last) / 2, last] : marks;
}

function picture(rows, { now, moment }) {
  const axis = axisOf(rows, now);
  const { start, end, last, x } = axis;
  const height = rows.length * ROW + 26;
  const expected = last > end ? `, and what is expected until ${clock(last)}` : "";
  const drawing = svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${height}`, role: "group", "aria-label": `Chart of when ${rows.length} rows waited and ran, from ${clock(start)} to ${clock(end)}${expected}` });
  for (const time of marksOf(axis)) {
    drawing.append(svg("line", { class: time === end && expected ? "now" : "edge", x1: x(time), x2: x(time), y1: 20, y2: height }),
      svg("text", { x: x(time), y: 14, "text-anchor": time === last ? "end" : time > start ? "middle" : "start" }, clock(time)));
  }
  rows.forEach((row, i) => {
    const y = 24 + i * ROW;
    drawing.append(svg("text", { x: 6, y: y + 12 }, row.name.length > 30 ? `${row.name.slice(0, 29)}…` : row.name));
    for (const { id, span } of row.bars) drawing.append(linkedBars(id, span, axis, y));
  });
  if (moment) drawing.append(svg("line", { class: "at", x1: x(Date.parse(moment.time)), x2: x(Date.parse(moment.time)), y1: 18, y2: height }));
  return drawing;
}

function linkedBars(id, span, { x, end }, y) {
  const started = span.started ? Date.parse(span.started) : null;
  const ended = span.ended ? Date.parse(span.ended) : end;
  const state = started ? `runs since ${clock(started)}` : "waits";
  const found = [];
  const draw = (from, to, properties, told) => found.push(svg("rect", { x: x(from), y: y + 2, width: Math.max(1.5, x(to) - x(from)), height: ROW - 5, rx: 2, ...properties },
    svg("title", {}, `${label(id)} ${told}`)));
  if (span.created) draw(Date.parse(span.created), started || end, { class: "waits" }, "waits");
  if (started) draw(started, ended, { fill: named(id) }, state);
  let expected = "";
  if (span.expectedEnd && Date.parse(span.expectedEnd) > end) {
    expected = `is expected to end at ${clock(span.expectedEnd)}`;
    draw(end, Date.parse(span.expectedEnd), { class: "goes-on", fill: named(id) }, expected);
  }
  if (span.latest && Date.parse(span.latest) > end) {
    expected = `is expected to start between ${clock(span.earliest)} and ${clock(span.latest)} (80 %)`;
    draw(Math.max(end, Date.parse(span.earliest)), Date.parse(span.latest), { class: "foreseen" }, expected);
  }
  const link = svg("a", { href: gangLink(id), "aria-label": [label(id), state, expected].filter(Boolean).join(", ") });
  link.append(...found);
  return link;
}
