// Colours of who holds what: each new name gets a hue far from those before it, and keeps it.

const GOLDEN_ANGLE = 137.508;
const known = new Map();

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function named(text) {
  if (!known.has(text)) known.set(text, known.size);
  const number = known.get(text);
  const light = (isDark() ? 54 : 42) + (Math.floor(number / 5) % 3) * 7;
  return `hsl(${Math.round(212 + number * GOLDEN_ANGLE) % 360} ${58 + (number % 2) * 14}% ${light}%)`;
}

export const WAYS = { gang: "gang", tenant: "tenant (namespace)", priority: "priority", free: "free or held" };

export function painter(way, data) {
  const colour = uncached(way, data);
  const found = new Map();
  return (id) => {
    if (!found.has(id)) found.set(id, colour(id));
    return found.get(id);
  };
}

function uncached(way, data) {
  const holder = (id) => data.gangs[id] || data.pods[id] || { namespace: id.split("/")[0], priority: 0 };
  if (way === "tenant") return (id) => named(holder(id).namespace);
  if (way === "free") return () => css("--closed");
  if (way === "priority") {
    const values = [...Object.values(data.gangs), ...Object.values(data.pods)].map((one) => one.priority);
    const ranks = [...new Set(values)].sort((a, b) => a - b);
    return (id) => {
      const share = ranks.length > 1 ? ranks.indexOf(holder(id).priority) / (ranks.length - 1) : 0.5;
      return `hsl(${220 - 210 * share} 65% ${isDark() ? 58 : 42}%)`;
    };
  }
  return (id) => named((data.gangs[id] && data.gangs[id].root) || id);
}
