// What a cell opens: the reason, the line that replays it, the timeline, steps and log.

function panel(row, column, results) {
  const [, id, example, title] = data.rows[row];
  const box = element("div", { class: "panel", role: "region", "aria-label": `${title}, ${columns[column]}` });
  const close = element("button", { type: "button", class: "close" }, "Close");
  const paints = [];
  const head = element("h3", {}, `${title}${example ? ` [${example}]` : ""}`);
  box.append(element("div", { class: "top" }, head, close), element("div", { class: "facts" }, `${id} · ${columns[column]}`));
  results.map(result).forEach((one, place) => {
    if (results.length > 1) box.append(element("h4", {}, `Run ${place + 1} of ${results.length}`));
    box.append(...outcome(one));
    if (one.line) box.append(picture(timeline(one.line), paints));
  });
  return { box, close, paints };
}

function outcome(one) {
  const facts = element("p", { class: "facts" }, sign(one.outcome, one.outcome), ` ${one.wall.toFixed(2)} s of real time`);
  if (one.ticket) facts.append(` · ticket ${one.ticket}`);
  if (one.at) facts.append(element("br"), element("code", {}, one.at));
  const parts = [facts];
  if (one.why) parts.push(element("pre", { class: BAD.has(one.outcome) ? "why bad" : "why" }, one.why));
  if (one.replay) {
    const copy = element("button", { type: "button" }, "Copy");
    copy.onclick = () => navigator.clipboard?.writeText(one.replay).then(() => { copy.textContent = "Copied"; });
    parts.push(element("div", { class: "replay" }, element("code", { tabIndex: 0, "aria-label": "Replay" }, one.replay), copy));
  }
  return parts;
}

/* `paints` gets what draws it, for when it stands in the page and has a width. */
function picture(line, paints) {
  const began = performance.now();
  const state = { byTime: false, chosen: null, lit: -1 };
  const canvas = element("canvas", { tabIndex: 0, role: "img", "aria-label": summary(line) });
  const says = element("div", { class: "says", role: "status", "aria-live": "polite" });
  const scale = element("button", { type: "button", "aria-pressed": "false" }, "True to scale");
  const bars = element("div", { class: "bar" }, key(), scale);
  const box = element("div", { class: "picture" }, canvas, says, bars);
  let hits = [];
  const paint = () => { hits = draw(canvas, line, state); };
  const quiet = hint(line);
  const choose = (hit) => { state.chosen = hit; says.textContent = hit ? hit.says : quiet; paint(); };
  says.textContent = quiet;
  if (!line.ms) scale.disabled = true;
  scale.onclick = () => { state.byTime = !state.byTime; scale.setAttribute("aria-pressed", String(state.byTime)); paint(); };

  canvas.onmousemove = (event) => {
    const x = event.offsetX, y = event.offsetY;
    const over = hits.filter((one) => x >= one.x0 - 1.5 && x <= one.x1 + 1.5 && y >= one.y0 - 1 && y <= one.y1 + 1);
    const hit = over.findLast((one) => one.bad) || over.findLast((one) => !one.under) || over[0];
    canvas.title = hit ? hit.says : "";
    says.textContent = hit ? hit.says : state.chosen ? state.chosen.says : quiet;
  };
  canvas.onkeydown = (event) => {
    const ways = { ArrowRight: [1, false], ArrowLeft: [-1, false], ArrowDown: [1, true], ArrowUp: [-1, true] };
    if (!(event.key in ways)) return;
    event.preventDefault();
    const [way, bad] = ways[event.key];
    const list = hits.filter((one) => !bad || one.bad).sort((a, b) => a.x0 - b.x0 || a.y0 - b.y0);
    if (!list.length) return;
    const now = list.findIndex((one) => state.chosen && one.says === state.chosen.says && one.order === state.chosen.order);
    choose(list[now < 0 ? (way > 0 ? 0 : list.length - 1) : (now + way + list.length) % list.length]);
  };

  const steps = element("ol");
  line.steps.forEach((step, number) => {
    const item = element("li", { class: number === line.broke ? "broke" : "" },
      element("span", {}, String(number + 1)), element("span", {}, seconds(step.at)), element("span", {}, text(step.text)));
    item.onmouseenter = () => { state.lit = number; paint(); };
    item.onmouseleave = () => { state.lit = -1; paint(); };
    steps.append(item);
  });
  const lists = element("div", { class: "lists" }, element("div", {}, element("h4", {}, "Steps that ran"), steps));
  if (line.log.length) {
    const log = element("ol");
    for (const one of line.log.slice(0, 400)) {
      log.append(element("li", {}, element("span"), element("span", {}, one.at < 0 ? "" : seconds(one.at)), element("span", {}, text(one.text))));
    }
    if (line.log.length > 400) log.append(element("li", {}, element("span"), element("span"), `${line.log.length - 400} more lines`));
    lists.append(element("div", {}, element("h4", {}, "The router said"), log));
  }
  box.append(lists);
  let wide = 0;
  const fit = () => {
    if (!canvas.clientWidth || canvas.clientWidth === wide) return;
    wide = canvas.clientWidth;
    paint();
  };
  paints.push(() => { fit(); root.dataset.timeline = String(Math.round(performance.now() - began)); });
  new ResizeObserver(fit).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (canvas.isConnected) paint(); });
  return box;
}

function summary(line) {
  const counts = data.kinds.map((name, kind) => {
    const many = line.requests.filter((one) => one.kind === kind && one.row >= 0).reduce((sum, one) => sum + one.count, 0);
    return many ? `${many} ${name}` : "";
  }).filter(Boolean);
  return `Timeline of ${line.engines.length} engine${line.engines.length === 1 ? "" : "s"} over ${seconds(line.ms)}: ${counts.join(", ") || "no requests"}. Arrow keys walk through it, up and down from failure to failure.`;
}

function hint(line) {
  const { left } = layout(line);
  const drawn = line.requests.length, all = line.all;
  const parts = [];
  if (drawn < all) parts.push(`${all} requests in ${drawn} bars: those that are alike and near stand together.`);
  if (left) parts.push(`${left} more engines are not drawn; those with failures come first.`);
  return parts.join(" ") || `${summary(line).split(". ")[0]}.`;
}

/* The legend of bars, drawn by what draws the bars. */
function key() {
  const made = element("span", { class: "key" });
  KIND.forEach((name, kind) => {
    const small = element("canvas", { width: 36, height: 20, "aria-hidden": "true" });
    const paint = () => { colours = new Map(); const pen = small.getContext("2d"); pen.setTransform(2, 0, 0, 2, 0, 0); pen.clearRect(0, 0, 18, 10); bar(pen, kind, 1, 0, 16, 10); };
    paint();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
    made.append(element("span", {}, small, data.kinds[kind]));
  });
  return made;
}
