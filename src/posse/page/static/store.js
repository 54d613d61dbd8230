// The data of the page: kept current by server-sent events, or set to a moment of a recording.

const KEY = "posse-token";
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 5000;

export const store = {
  live: null, // the cluster as it is
  moment: null, // {time, data} while a recording is looked at
  isConnected: false,
  problem: "",
  watchers: new Set(),
  get data() {
    return this.moment ? this.moment.data : this.live;
  },
  get now() {
    if (this.moment) return Date.parse(this.moment.time);
    const stands = this.live && this.live.source && this.live.source.time;
    return stands ? Date.parse(stands) : Date.now();
  },
};

let pending = false;

export function notify() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    for (const watcher of [...store.watchers]) watcher();
  });
}

export function takeToken() {
  const found = /[#&]token=([^&]+)/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(KEY, decodeURIComponent(found[1]));
    history.replaceState(null, "", location.pathname + (location.hash.replace(/[#&]token=[^&]+/, "") || "#/map"));
  }
}

function headers() {
  return { Authorization: `Bearer ${sessionStorage.getItem(KEY) || ""}` };
}

export async function ask(question, parameters) {
  const query = new URLSearchParams(parameters);
  if (store.moment) query.set("time", store.moment.time);
  const answer = await fetch(`/api/${question}?${query}`, { headers: headers() });
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text);
  throw new Error(answer.status === 422 ? JSON.parse(text).error : text.trim() || `HTTP ${answer.status}`);
}

export async function goTo(time) {
  if (!time) {
    store.moment = null;
  } else {
    const query = new URLSearchParams({ time });
    const answer = await fetch(`/api/at?${query}`, { headers: headers() });
    const data = await answer.json();
    if (!answer.ok) throw new Error(data.error);
    store.moment = { time, data: { ...data, source: store.live ? store.live.source : {} } };
  }
  notify();
}

function apply(name, data) {
  if (name === "whole") store.live = data;
  else {
    for (const [part, value] of Object.entries(data)) {
      const known = store.live[part];
      if (!known || typeof known !== "object" || part === "cluster" || part === "source") {
        store.live[part] = known ? { ...known, ...value } : value;
        continue;
      }
      for (const [key, row] of Object.entries(value)) {
        if (row === null) delete known[key];
        else known[key] = row;
      }
    }
  }
  store.live.version = (store.live.version || 0) + 1;
  notify();
}

function take(block) {
  let name = "";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
  if (name) apply(name, JSON.parse(data));
}

async function follow() {
  const answer = await fetch("/api/events", { headers: headers() });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  store.isConnected = true;
  store.problem = "";
  notify();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const end = text.lastIndexOf("\n\n");
    if (end < 0) continue;
    for (const block of text.slice(0, end).split("\n\n")) take(block);
    text = text.slice(end + 2);
  }
}

export async function connect() {
  let pause = FIRST_PAUSE;
  for (;;) {
    const had = store.live && store.live.version;
    try {
      await follow();
    } catch (error) {
      store.problem = error instanceof TypeError ? "" : error.message;
    }
    const isNew = store.live && store.live.version !== had;
    pause = isNew ? FIRST_PAUSE : Math.min(2 * pause, LONGEST_PAUSE);
    store.isConnected = false;
    notify();
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
