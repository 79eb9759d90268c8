// Draws one timeline: steps, the router's events, what clients missed, a row an engine.

const GUTTER = 118, TOP = 26, BOTTOM = 22, PHASE = 13, RIGHT = 14, MOST = 48;
const PHASES = new Set(["refuses", "accepting", "loading", "serving", "busy", "sleeping", "draining", "dead"]);
const KIND = ["ok", "refused", "left", "going", "backpressure", "error", "broken"];
const WORST = new Set([4, 5, 6]);

/* Asked of the style once a drawing: each question costs a layout. */
let colours = new Map();
function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(root).getPropertyValue(`--${name}`).trim());
  return colours.get(name);
}

/* A bar's shape says its kind too: hollow, low, high, struck through, crossed. */
function bar(pen, kind, x, y, w, h, label = "") {
  const name = KIND[kind];
  pen.fillStyle = pen.strokeStyle = colour(`k-${name}`);
  if (name === "left" || name === "going") {
    pen.lineWidth = 1;
    if (w > 2 && h > 2) pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    else { pen.globalAlpha = 0.6; pen.fillRect(x, y, w, h); pen.globalAlpha = 1; }
    return;
  }
  if (name === "backpressure") pen.fillRect(x, y + h * 0.6, w, h * 0.4);
  else if (name === "refused") pen.fillRect(x, y, w, h * 0.4);
  else pen.fillRect(x, y, w, h);
  if (label && w > 25 && h >= 10) {
    pen.fillStyle = colour(name === "error" || name === "broken" ? "on-bar" : "front");
    pen.textAlign = "left";
    pen.fillText(label, x + 3, y + h * (name === "backpressure" ? 0.3 : name === "refused" ? 0.75 : 0.5));
    return;
  }
  if (h < 6 || w < 4) return;
  pen.strokeStyle = colour("back");
  pen.lineWidth = 1.2;
  pen.beginPath();
  if (name === "broken") {
    const side = Math.min(w, h) - 2;
    const cx = x + w / 2, cy = y + h / 2;
    pen.moveTo(cx - side / 2, cy - side / 2); pen.lineTo(cx + side / 2, cy + side / 2);
    pen.moveTo(cx + side / 2, cy - side / 2); pen.lineTo(cx - side / 2, cy + side / 2);
  } else if (name === "error") { pen.moveTo(x + 1, y + h / 2); pen.lineTo(x + w - 1, y + h / 2); }
  pen.stroke();
}

/* The rows of a picture, from top to bottom, each with its height. */
function layout(line) {
  const rows = [];
  const timed = line.log.some((one) => one.at >= 0);
  if (timed) rows.push({ kind: "router", name: "router", height: 18 });
  if (line.requests.some((one) => one.row < 0)) rows.push({ kind: "clients", row: -1, name: "clients got", height: 26 });
  const wrong = new Set(line.requests.filter((one) => WORST.has(one.kind)).map((one) => one.row));
  let engines = line.engines.map((name, row) => ({ kind: "engine", row, name }));
  if (engines.length > MOST) {
    engines = [...engines.filter((one) => wrong.has(one.row)), ...engines.filter((one) => !wrong.has(one.row))].slice(0, MOST);
    engines.sort((a, b) => a.row - b.row);
  }
  const bars = engines.length <= 3 ? 40 : engines.length <= 8 ? 30 : 20;
  const broken = new Set(line.breakers.filter((one) => text(one.state) !== "closed").map((one) => one.row));
  for (const one of engines) rows.push({ ...one, bars, breaker: broken.has(one.row), height: PHASE + bars + 5 + (broken.has(one.row) ? 14 : 0) });
  let y = TOP;
  for (const one of rows) { one.y = y; y += one.height + 3; }
  return { rows, height: y + BOTTOM, left: line.engines.length - engines.length };
}

function draw(canvas, line, state) {
  colours = new Map();
  const width = canvas.clientWidth || 800;
  const { rows, height } = layout(line);
  const ratio = devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  pen.textBaseline = "middle";
  const gutter = Math.min(GUTTER, width * 0.28);
  const axis = makeAxis(line, state.byTime, gutter, width - gutter - RIGHT);
  const hits = [];
  const floor = height - BOTTOM;

  for (const one of rows) {
    pen.fillStyle = colour("grid");
    pen.fillRect(0, one.y + one.height + 1, width, 1);
    pen.fillStyle = colour("front");
    pen.textAlign = "left";
    pen.fillText(fitted(pen, one.name, gutter - 12), 6, one.y + Math.min(one.height, 18) / 2);
  }
  stepLines(pen, line, axis, floor, state, hits);
  for (const one of rows) {
    if (one.kind === "router") events(pen, line, axis, one, hits);
    else {
      if (one.kind === "engine") { phases(pen, line, axis, one, hits); breakers(pen, line, axis, one, hits); }
      requests(pen, line, axis, one, hits);
    }
  }
  pen.fillStyle = colour("dim");
  const written = new Set();
  for (const tick of ticks(line, axis, 62)) {
    const label = tick.ms < 10000 ? seconds(tick.ms) : `${Number((tick.ms / 1000).toFixed(1))} s`;
    const half = pen.measureText(label).width / 2;
    const x = Math.min(Math.max(tick.x, gutter + half), width - half - 3);
    pen.fillRect(tick.x, floor, 1, 5);
    if (written.has(label)) continue;
    written.add(label);
    pen.textAlign = "center";
    pen.fillText(label, x, floor + 13);
  }
  const chosen = state.chosen;
  if (chosen) {
    pen.strokeStyle = colour("link");
    pen.lineWidth = 2;
    const hit = hits.find((one) => one.says === chosen.says && one.order === chosen.order);
    if (hit) pen.strokeRect(hit.x0 - 2, hit.y0 - 2, hit.x1 - hit.x0 + 4, hit.y1 - hit.y0 + 4);
  }
  return hits;
}

function fitted(pen, words, room) {
  if (pen.measureText(words).width <= room) return words;
  let end = words.length;
  while (end > 1 && pen.measureText(`${words.slice(0, end)}…`).width > room) end -= 1;
  return `${words.slice(0, end)}…`;
}

/* A line where each step begins, its number on top; the one that broke stands out. */
function stepLines(pen, line, axis, floor, state, hits) {
  let free = -1;
  line.steps.forEach((step, number) => {
    const x = axis.at(step.at, number).x0;
    const broke = number === line.broke, lit = number === state.lit;
    pen.fillStyle = broke ? colour("mark") : lit ? colour("link") : colour("line");
    pen.fillRect(x, TOP - 8, broke || lit ? 2 : 1, floor - TOP + 8);
    const label = String(number + 1);
    const w = pen.measureText(label).width + 8;
    if (x < free && !broke && !lit) return;
    const at = Math.min(x, pen.canvas.clientWidth - w - 1);
    pen.fillStyle = broke ? colour("mark") : lit ? colour("link") : colour("line");
    pen.fillRect(at, 4, w, 15);
    pen.fillStyle = broke || lit ? colour("back") : colour("front");
    pen.textAlign = "center";
    pen.fillText(label, at + w / 2, 12);
    free = x + w + 1;
    hits.push({ x0: at, x1: at + w, y0: 4, y1: 19, bad: broke, says: `step ${number + 1}, ${seconds(step.at)}: ${text(step.text)}${broke ? " (it failed)" : ""}` });
  });
}

/* Spreads what stands in one step of one instant over its width. */
function spread(list, axis) {
  const groups = new Map();
  for (const one of list) {
    const key = `${one.at} ${one.step}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(one);
  }
  const placed = new Map();
  for (const group of groups.values()) {
    const { x0, x1 } = axis.at(group[0].at, group[0].step);
    group.forEach((one, place) => placed.set(one, { x: x0 + ((x1 - x0) * place) / group.length, w: (x1 - x0) / group.length }));
  }
  return placed;
}

function events(pen, line, axis, row, hits) {
  const timed = line.log.filter((one) => one.at >= 0);
  const placed = spread(timed, axis);
  pen.fillStyle = colour("link");
  for (const one of timed) {
    const x = placed.get(one).x, y = row.y + row.height / 2;
    pen.beginPath();
    pen.moveTo(x, y - 5); pen.lineTo(x + 4, y); pen.lineTo(x, y + 5); pen.lineTo(x - 4, y);
    pen.fill();
    hits.push({ x0: x - 4, x1: x + 4, y0: y - 6, y1: y + 6, says: `router, ${seconds(one.at)}: ${text(one.text)}` });
  }
}

function phases(pen, line, axis, row, hits) {
  const own = line.phases.filter((one) => one.row === row.row);
  own.forEach((one, place) => {
    const next = own[place + 1];
    const x0 = axis.at(one.at, one.step).x0;
    const x1 = next ? Math.max(axis.at(next.at, next.step).x0, x0) : axis.end(one.until);
    const name = text(one.name);
    const known = PHASES.has(name.split(" ")[0]) ? name.split(" ")[0] : "other";
    pen.fillStyle = colour(`p-${known}`);
    pen.fillRect(x0, row.y, Math.max(1.5, x1 - x0), PHASE);
    const shown = fitted(pen, name, x1 - x0 - 6);
    if (shown.length > 2) {
      pen.fillStyle = colour(known === "dead" ? "p-dead-text" : "p-text");
      pen.textAlign = "left";
      pen.fillText(shown, x0 + 3, row.y + PHASE / 2 + 0.5);
    }
    hits.push({ x0, x1: Math.max(x0 + 2, x1), y0: row.y, y1: row.y + PHASE, under: true,
      says: `${row.name} ${name} from ${seconds(one.at)} to ${seconds(one.until)}${one.life > 1 ? `, life ${one.life}` : ""}` });
  });
}

function breakers(pen, line, axis, row, hits) {
  if (!row.breaker) return;
  const own = line.breakers.filter((one) => one.row === row.row);
  const y = row.y + row.height - 14;
  own.forEach((one, place) => {
    const next = own[place + 1];
    const x0 = axis.at(one.at, one.step).x0;
    const x1 = next ? axis.at(next.at, next.step).x0 : axis.end(line.ms);
    const state = text(one.state);
    const closed = state === "closed";
    pen.fillStyle = colour(closed ? "k-ok" : state === "open" ? "k-error" : "k-backpressure");
    if (closed) pen.fillRect(x0, y + 11, x1 - x0, 1);
    else pen.fillRect(x0, y, Math.max(2, x1 - x0), 12);
    const shown = fitted(pen, `breaker ${state}`, x1 - x0 - 6);
    if (shown.length > 4) {
      pen.fillStyle = colour(closed ? "dim" : state === "open" ? "on-bar" : "on-light");
      pen.textAlign = "left";
      pen.fillText(shown, x0 + 3, y + (closed ? 5 : 6.5));
    }
    hits.push({ x0, x1: Math.max(x0 + 2, x1), y0: y - 1, y1: y + 12, bad: !closed, says: `breaker of ${row.name} ${state} from ${seconds(one.at)}` });
  });
}

function requests(pen, line, axis, row, hits) {
  const own = line.requests.filter((one) => one.row === row.row);
  if (!own.length) return;
  const instant = spread(own.filter((one) => one.took === 0), axis);
  const boxes = own.map((one) => {
    const spot = instant.get(one);
    if (spot) return { one, x0: spot.x, x1: spot.x + Math.max(1.5, spot.w > 4 ? spot.w - 1 : spot.w * 0.8) };
    const x0 = axis.at(one.at, one.step).x0;
    const x1 = one.took < 0 ? axis.end(line.ms) : axis.edge(one.at + one.took);
    return { one, x0, x1: Math.max(x0 + 2, x1) };
  });
  boxes.sort((a, b) => a.x0 - b.x0);
  const free = [];
  for (const box of boxes) {
    let lane = free.findIndex((end) => end <= box.x0 + 0.01);
    if (lane < 0) lane = free.push(0) - 1;
    free[lane] = box.x1;
    box.lane = lane;
  }
  const top = row.y + (row.kind === "engine" ? PHASE + 2 : 1);
  const room = row.kind === "engine" ? row.bars : row.height - 2;
  const h = Math.min(14, room / free.length);
  const worse = (box) => (WORST.has(box.one.kind) ? 1 : 0);
  boxes.sort((a, b) => worse(a) - worse(b));
  for (const { one, x0, x1, lane } of boxes) {
    const y = top + lane * h;
    const high = Math.max(worse({ one }) ? 2.5 : 0.8, h > 3 ? h - 1 : h);
    bar(pen, one.kind, x0, y, x1 - x0, high, one.status && one.kind ? String(one.status) : "");
    hits.push({ x0, x1, y0: y, y1: y + Math.max(high, 3), bad: WORST.has(one.kind), request: true, order: hits.length, says: said(one, row) });
  }
}

function said(one, row) {
  const who = row.kind === "clients" ? "a client got" : row.name;
  const times = one.took < 0 ? `${seconds(one.at)}, never ended` : one.took ? `${seconds(one.at)}, ${seconds(one.took)} long` : seconds(one.at);
  const parts = [one.count > 1 ? `${one.count} requests` : "", one.status ? `status ${one.status}` : "no status", text(one.ended), times, text(one.session) && `session ${text(one.session)}`, one.step >= 0 ? `in step ${one.step + 1}` : ""];
  return `${who}: ${data.kinds[one.kind]}; ${parts.filter(Boolean).join(", ")}`;
}
