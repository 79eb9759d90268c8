// Reads the packed data, and holds the words and small tools that all parts use.

const began = performance.now();
const root = document.documentElement;
root.dataset.errors = "0";
addEventListener("error", (event) => {
  root.dataset.errors = String(1 + Number(root.dataset.errors));
  root.dataset.error = event.message;
});

const data = JSON.parse(document.getElementById("data").textContent);
const text = (place) => (place < 0 ? "" : data.texts[place]);

/* A sign for each outcome, so that colour never stands alone. */
const SIGNS = {
  "pass": "✓", "fail": "✕", "known": "K", "fixed": "F", "unsupported": "U", "not applicable": "–", "harness error": "!",
};
const MEANS = {
  "pass": "the promise was kept",
  "fail": "the promise was broken",
  "known": "broken as a row with a ticket says",
  "fixed": "kept, although a row says that it is broken: the row must go",
  "unsupported": "the router says that it has no such thing",
  "not applicable": "the lane lacks what it needs, or no router takes part",
  "harness error": "our harness broke: nothing is known of the router",
};
const BAD = new Set(["fail", "fixed", "harness error"]);

/* Flat lists of integers become lists of records. */
function records(flat, names) {
  const found = [];
  for (let at = 0; at < flat.length; at += names.length) {
    const one = {};
    names.forEach((name, place) => { one[name] = flat[at + place]; });
    found.push(one);
  }
  return found;
}

function result([outcome, why, at, ticket, wall, replay, line]) {
  return {
    outcome: data.outcomes[outcome], why: text(why), at: text(at), ticket: text(ticket),
    wall: wall / 1000, replay: text(replay), line,
  };
}

function timeline(packed) {
  return {
    ...packed,
    engines: packed.engines.map(text),
    requests: records(packed.requests, ["row", "at", "took", "kind", "status", "ended", "session", "step", "count"]),
    phases: records(packed.phases, ["row", "name", "at", "until", "life", "step"]),
    breakers: records(packed.breakers, ["row", "state", "at", "step"]),
    log: records(packed.log, ["at", "text", "step"]),
    steps: records(packed.steps, ["at", "text"]),
  };
}

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else if (key.includes("-") || key === "role" || key === "for") made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children);
  return made;
}

function sign(outcome, more = "") {
  const made = element("span", { class: `o o-${outcome.replaceAll(" ", "-")}`, title: `${outcome}: ${MEANS[outcome]}` },
    element("span", { "aria-hidden": "true" }, SIGNS[outcome]), element("span", { class: "hide" }, outcome));
  if (more !== "") made.append(` ${more}`);
  return made;
}

/* A number of milliseconds as seconds, as short as it stays exact. */
const seconds = (ms) => `${Number((ms / 1000).toFixed(3))} s`;

function columnName([lane, router], lanes) {
  if (router) return lanes > 1 ? `${router} on ${lane}` : router;
  return `${lane}, no router`;
}
const lanes = new Set(data.columns.map(([lane]) => lane)).size;
const columns = data.columns.map((one) => columnName(one, lanes));
