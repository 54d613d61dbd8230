// The map of the cluster on a canvas: draws nodes with what they hold, zooms, and says what is under the pointer.

import { css, painter } from "./colours.js";
import { h } from "./dom.js";
import { layout, NODE } from "./layout.js";

const MOST_SCALE = 24;
const SLOTS = 8;
const NEW_RACK = "new nodes";
const SETTLED = 90; // milliseconds after the last move until the picture is drawn sharp

export class ClusterMap {
  constructor({ small = false, onHover = () => {}, onOpen = () => {}, label = "Map of the cluster" } = {}) {
    this.canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": label });
    this.tip = h("p", { class: "tip", role: "status" });
    this.element = h("div", { class: small ? "plane small" : "plane" }, this.canvas, this.tip);
    this.onHover = onHover;
    this.onOpen = onOpen;
    this.way = "gang";
    this.marked = "";
    this.extra = {}; // what a plan adds: nodes with numbers of pods
    this.domain = "";
    this.cursor = "";
    this.view = null;
    this.base = document.createElement("canvas");
    this.frames = [];
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  listen() {
    const { canvas } = this;
    const at = (event) => ({ x: event.offsetX, y: event.offsetY });
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      drag = { ...at(event), moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const here = at(event);
      if (!drag) return this.hover(this.find(here));
      const [dx, dy] = [here.x - drag.x, here.y - drag.y];
      if (!drag.moved && Math.hypot(dx, dy) < 4) return undefined;
      this.view.x += dx;
      this.view.y += dy;
      drag = { ...here, moved: true };
      return this.moved();
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) this.open(this.find(at(event)));
      drag = null;
    });
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), at(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "+" || event.key === "=") this.zoom(1.3);
    else if (event.key === "-") this.zoom(1 / 1.3);
    else if (event.key === "0") this.fit();
    else if (event.key === "Enter" && this.cursor) this.open({ node: this.cursor, holder: this.holderOf(this.cursor) });
    else if (event.key in steps && this.plan) this.step(...steps[event.key]);
    else return;
    event.preventDefault();
  }

  step(dx, dy) {
    const names = [...this.plan.places.keys()];
    const from = this.plan.places.get(this.cursor);
    let best = from ? "" : names[0];
    let least = Infinity;
    for (const name of from ? names : []) {
      const place = this.plan.places.get(name);
      const [ax, ay] = [place.x - from.x, place.y - from.y];
      const ahead = ax * dx + ay * dy;
      if (ahead <= 0) continue;
      const cost = ahead + 3 * Math.abs(dx ? ay : ax);
      if (cost < least) [best, least] = [name, cost];
    }
    if (!best) return;
    this.cursor = best;
    this.hover({ node: best, holder: this.holderOf(best) });
    this.draw();
  }

  holderOf(node) {
    const held = this.nodes[node] ? Object.entries(this.nodes[node].holders) : [];
    return held.length ? held.sort((a, b) => b[1] - a[1])[0][0] : "";
  }

  show(data) {
    this.data = data;
    this.nodes = { ...data.nodes };
    for (const name of Object.keys(this.extra)) {
      if (!this.nodes[name]) this.nodes[name] = { rack: NEW_RACK, block: NEW_RACK, total: 0, holders: {}, closed: "" };
    }
    const shape = Object.keys(this.nodes).map((name) => `${name} ${this.nodes[name].rack} ${this.nodes[name].block}`).join();
    const { clientWidth: width, clientHeight: height } = this.element;
    this.slotsOf = new Map(Object.keys(this.nodes).map((name) => [name, this.slots(name)]));
    if (!width || !height) return;
    if (this.shape !== shape || !this.plan) {
      this.shape = shape;
      this.plan = layout(this.nodes, width / height);
      this.view = null;
    }
    if (!this.view) this.fit();
    else this.draw(true);
  }

  resize() {
    if (!this.data) return;
    this.plan = null;
    this.show(this.data);
  }

  fit() {
    if (!this.plan) return;
    const { clientWidth: width, clientHeight: height } = this.element;
    const scale = Math.min((width - 24) / this.plan.width, (height - 24) / this.plan.height, 5);
    this.view = { scale, x: (width - this.plan.width * scale) / 2, y: Math.max(12, (height - this.plan.height * scale) / 2) };
    this.draw(true);
  }

  zoom(factor, at) {
    if (!this.view) return;
    const centre = at || { x: this.element.clientWidth / 2, y: this.element.clientHeight / 2 };
    const scale = Math.min(MOST_SCALE, Math.max(0.05, this.view.scale * factor));
    const by = scale / this.view.scale;
    this.view = { scale, x: centre.x - (centre.x - this.view.x) * by, y: centre.y - (centre.y - this.view.y) * by };
    this.moved();
  }

  // While it moves, the last picture is shown at its new place; it is drawn again when it rests.
  moved() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.draw(true), SETTLED);
    this.draw();
  }

  find({ x, y }) {
    if (!this.plan || !this.view) return null;
    const [wx, wy] = [(x - this.view.x) / this.view.scale, (y - this.view.y) / this.view.scale];
    for (const [name, place] of this.plan.places) {
      const [dx, dy] = [wx - place.x, wy - place.y];
      if (dx < 0 || dy < 0 || dx >= NODE.width || dy >= NODE.height) continue;
      const slots = this.slotsOf.get(name);
      const slot = Math.floor(dy / (NODE.cell + 1)) * NODE.columns + Math.floor(dx / NODE.cell);
      return { node: name, holder: slots[slot] || this.holderOf(name) };
    }
    return null;
  }

  slots(name) {
    const node = this.nodes[name];
    const number = this.data.cluster.isGpu ? Math.min(16, node.total) : SLOTS;
    const one = node.total / Math.max(1, number);
    const found = [];
    for (const [holder, held] of Object.entries(node.holders)) {
      for (let left = held; left > 0 && found.length < number; left -= one) found.push(holder);
    }
    while (found.length < number) found.push("");
    return found;
  }

  hover(found) {
    this.tip.textContent = found ? this.describe(found.node) : "";
    this.onHover(found);
  }

  describe(name) {
    const { nodes, data } = this;
    const node = nodes[name];
    const where = [node.block, node.rack].filter(Boolean).join(" / ");
    const unit = data.cluster.resource === "cpu" ? 1000 : 1;
    const held = Object.entries(node.holders).map(([id, number]) => {
      const who = data.gangs[id] || data.pods[id];
      return `${who ? `${who.namespace}/${who.name}` : id} ${number / unit}`;
    });
    const used = Object.values(node.holders).reduce((sum, one) => sum + one, 0);
    const plans = this.extra[name] ? `; planned here: ${this.extra[name]} pods` : "";
    const closed = node.closed ? `, ${node.closed}` : "";
    return `${name}${where ? ` (${where})` : ""}: ${(node.total - used) / unit} of ${node.total / unit} ${data.cluster.resource} free`
      + `${closed}${held.length ? `; held by ${held.join(", ")}` : ""}${plans}`;
  }

  open(found) {
    if (found && found.holder && this.data.gangs[found.holder]) this.onOpen(found.holder);
  }

  mark(id, domain = "") {
    if (this.marked === id && this.domain === domain) return;
    this.marked = id;
    this.domain = domain;
    this.draw();
  }

  draw(isStale = false) {
    if (!this.plan || !this.view) return;
    this.stale = this.stale || isStale;
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      const started = performance.now();
      this.paint();
      this.paintedAt = this.paintedAt || performance.now();
      this.frames.push(performance.now() - started);
      if (this.frames.length > 200) this.frames.shift();
    });
  }

  paint() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    for (const one of [this.canvas, this.base]) {
      if (one.width !== width * ratio || one.height !== height * ratio) {
        one.width = width * ratio;
        one.height = height * ratio;
        this.stale = true;
      }
    }
    if (this.stale) this.paintBase(ratio);
    this.stale = false;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const by = this.view.scale / this.drawn.scale;
    pen.setTransform(by, 0, 0, by, ratio * (this.view.x - this.drawn.x * by), ratio * (this.view.y - this.drawn.y * by));
    pen.drawImage(this.base, 0, 0);
    pen.setTransform(ratio * this.view.scale, 0, 0, ratio * this.view.scale, ratio * this.view.x, ratio * this.view.y);
    this.paintMarks(pen);
  }

  paintBase(ratio) {
    const pen = this.base.getContext("2d");
    const { x, y, scale } = this.view;
    this.drawn = { ...this.view };
    const [width, height] = [this.base.width / ratio, this.base.height / ratio];
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.base.width, this.base.height);
    pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
    this.paintTitles(pen, scale);
    const colour = painter(this.way, this.data);
    // Whole pixels, colour by colour: edges that are not smoothed are much quicker to draw.
    const rows = new Map();
    const whole = (value, shift) => Math.round((value * scale + shift) * ratio);
    const add = (style, px, py, w, tall) => {
      if (!rows.has(style)) rows.set(style, []);
      const [left, top] = [whole(px, x), whole(py, y)];
      rows.get(style).push(left, top, Math.max(1, whole(px + w, x) - left), Math.max(1, whole(py + tall, y) - top));
    };
    const [free, closed] = [this.way === "free" ? css("--good") : css("--free"), css("--closed")];
    for (const [name, place] of this.plan.places) {
      const [sx, sy] = [place.x * scale + x, place.y * scale + y];
      if (sx > width || sy > height || sx + NODE.width * scale < 0 || sy + NODE.height * scale < 0) continue;
      this.paintNode(add, name, place, { colour, free, closed, scale });
    }
    pen.setTransform(1, 0, 0, 1, 0, 0);
    for (const [style, boxes] of rows) {
      pen.fillStyle = style;
      for (let i = 0; i < boxes.length; i += 4) pen.fillRect(boxes[i], boxes[i + 1], boxes[i + 2], boxes[i + 3]);
    }
  }

  paintNode(add, name, place, { colour, free, closed, scale }) {
    const node = this.nodes[name];
    const slots = this.slotsOf.get(name);
    const gap = scale > 2 ? 0.4 : 0;
    const rows = Math.max(1, Math.ceil(slots.length / NODE.columns));
    const tall = (NODE.height - 2) / rows;
    if (!slots.length) add(free, place.x, place.y, NODE.width - 2, NODE.height - 2);
    for (let row = 0; row < rows; row += 1) {
      for (let from = 0; from < NODE.columns;) {
        const holder = slots[row * NODE.columns + from];
        if (holder === undefined) break;
        let to = from + 1;
        while (!gap && to < NODE.columns && slots[row * NODE.columns + to] === holder) to += 1;
        const unit = (NODE.width - 2) / NODE.columns;
        const style = holder ? colour(holder) : node.closed ? closed : free;
        add(style, place.x + from * unit, place.y + row * tall, (to - from) * unit - gap, tall - gap);
        from = to;
      }
    }
  }

  paintTitles(pen, scale) {
    pen.fillStyle = css("--faint");
    pen.strokeStyle = css("--line");
    pen.lineWidth = 1 / scale;
    const write = (text, x, y, room) => {
      const size = Math.min(5, 13 / scale);
      if (size * scale < 7) return;
      pen.font = `${size}px system-ui, sans-serif`;
      if (pen.measureText(text).width < room) pen.fillText(text, x, y);
    };
    for (const block of this.plan.blocks) {
      if (block.title) write(block.name, block.x, block.y + 4.5, block.width);
      for (const rack of block.racks) {
        if (rack.name) write(rack.name, rack.x, rack.y + 4, rack.width);
        pen.strokeRect(rack.x - 1.5, rack.y - 1, rack.width + 1, rack.height + 1);
      }
    }
  }

  paintMarks(pen) {
    const wide = 2.5 / this.view.scale;
    const frame = (names, style) => {
      pen.strokeStyle = style;
      pen.lineWidth = wide;
      pen.beginPath();
      for (const name of names) {
        const place = this.plan.places.get(name);
        if (place) pen.rect(place.x - wide / 2, place.y - wide / 2, NODE.width - 2 + wide, NODE.height - 2 + wide);
      }
      pen.stroke();
    };
    if (this.domain) {
      pen.strokeStyle = css("--warn");
      pen.lineWidth = 2 * wide;
      for (const block of this.plan.blocks) {
        for (const box of [block, ...block.racks]) {
          if (box.name && this.domain.endsWith(` ${box.name}`)) pen.strokeRect(box.x - 2, box.y - 2, box.width + 2, box.height + 3);
        }
      }
    }
    frame(Object.keys(this.extra), css("--plan"));
    if (this.marked) {
      const own = (id) => id === this.marked || (this.data.gangs[id] && this.data.gangs[id].root === this.marked);
      frame(Object.keys(this.nodes).filter((name) => Object.keys(this.nodes[name].holders).some(own)), css("--mark"));
    }
    if (this.cursor && document.activeElement === this.canvas) frame([this.cursor], css("--text"));
  }
}
