// Builds elements. Texts become text nodes, never markup, so names of objects cannot inject anything.

export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  append(element, children);
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

// Replaces rows of a table or list, and keeps the focus on the element with the same data-key.
export function refill(element, children) {
  const held = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  fill(element, children);
  if (held === undefined) return;
  const same = [...element.querySelectorAll("[data-key]")].find((one) => one.dataset.key === held);
  if (same) same.focus({ preventScroll: true });
}

export function option(value, text, chosen) {
  return h("option", { value, selected: value === chosen }, text);
}
