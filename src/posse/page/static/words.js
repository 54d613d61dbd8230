// Ages, amounts and links, in words.

export function age(timestamp, now) {
  const start = Date.parse(timestamp);
  if (Number.isNaN(start)) return "-";
  const seconds = Math.max(0, Math.round((now - start) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86400)}d`;
}

export function clock(timestamp) {
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime()) ? "-" : time.toLocaleTimeString([], { hour12: false });
}

export function amount(number, cluster) {
  const shown = cluster.resource === "cpu" ? number / 1000 : number;
  return shown.toLocaleString("en", { maximumFractionDigits: 1 });
}

export function noun(cluster) {
  return cluster.isGpu ? "GPUs" : cluster.resource;
}

export function seconds(value) {
  if (value === null || value === undefined) return "-";
  return value < 1 ? `${(value * 1000).toLocaleString("en", { maximumFractionDigits: 1 })} ms`
    : `${value.toLocaleString("en", { maximumFractionDigits: 1 })} s`;
}

export function percent(part, whole) {
  return whole ? `${Math.round((100 * part) / whole)} %` : "-";
}

export function gangLink(id) {
  return `#/gang/${encodeURIComponent(id)}`;
}

export function stateClass(gang) {
  if (["Failed", "Invalid", "BelowMinimum"].includes(gang.state)) return "state fails";
  return gang.isWaiting ? "state waits" : "state runs";
}

export function ready(gang) {
  const there = gang.startedGroups === null ? gang.onNodes : gang.startedGroups;
  const unit = gang.startedGroups === null ? "" : " groups";
  return gang.policy === "Gang" ? `${there}/${gang.minimum}${unit}` : `${there}${unit}`;
}

// When its scheduler expects a group to start: four of five starts are between the two times.
export function starts(gang) {
  const forecast = gang.forecast;
  if (!forecast) return "";
  if (!forecast.earliest) return forecast.unforeseen === "no nodes for it" ? "never" : "unknown";
  return `${minute(forecast.earliest)} to ${minute(forecast.latest)}`;
}

function minute(timestamp) {
  const time = new Date(timestamp), today = new Date();
  const hour = time.toLocaleTimeString([], { hour12: false, hour: "2-digit", minute: "2-digit" });
  return time.toDateString() === today.toDateString() ? hour : `${time.toLocaleDateString([], { day: "numeric", month: "short" })} ${hour}`;
}
