// The head of the page, the matrix and its filter.

const about = document.getElementById("about");
const rules = [...new Set(data.runs.map((run) => `suite ${run.suite}, rules ${run.rules}`))].join("; ");
about.append(element("p", {}, `${rules} · ${data.rows.length} scenarios · ${data.runs.length === 1 ? "1 run" : `${data.runs.length} runs`}`));
for (const run of data.runs) {
  const routers = run.routers.map(([name, version, , scale]) => `${name} ${version}${scale > 1 ? ` (time × ${scale})` : ""}`).join(", ");
  const words = [`${run.started}`, `lane ${run.lane}`, routers, `seed ${run.seed}`, run.profile && `profile ${run.profile}`, run.shard && `shard ${run.shard}`, run.machine, `${run.ran} of ${run.selected} ran`];
  about.append(element("p", {}, words.filter(Boolean).join(" · ")));
  for (const note of run.notes) about.append(element("p", {}, `Note: ${note}`));
}
for (const note of data.notes) about.append(element("p", {}, `Note: ${note}`));

/* Every cell: its row, its column, the outcomes in it, and the words to find it by. */
const cells = data.cells.map((row) => new Map(row.map(([column, results]) => [column, results])));
const outcomesOf = (results) => [...new Set(results.map(([outcome]) => data.outcomes[outcome]))];
const address = (row, column) => `#${data.rows[row].slice(1, 3).concat(data.columns[column].slice(0, 2)).map(encodeURIComponent).join("/")}`;

function counts() {
  const table = element("table");
  const used = data.levels.filter((_, level) => data.level.includes(level));
  table.append(element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Column"), ...used.map((level) => element("th", { scope: "col" }, level)))));
  const body = element("tbody");
  data.columns.forEach((column, place) => {
    const line = element("tr", {}, element("th", { scope: "row" }, columns[place], element("small", {}, column[1] ? column[2] : "baseline")));
    for (const level of used) {
      const found = new Map();
      cells.forEach((row, number) => {
        if (data.levels[data.level[number]] !== level || !row.has(place)) return;
        for (const one of outcomesOf(row.get(place))) found.set(one, (found.get(one) || 0) + 1);
      });
      line.append(element("td", {}, ...data.outcomes.filter((one) => found.has(one)).map((one) => sign(one, found.get(one)))));
    }
    body.append(line);
  });
  table.append(body);
  const seen = data.outcomes.filter((one) => cells.some((row) => [...row.values()].some((results) => outcomesOf(results).includes(one))));
  const legend = element("ul", { class: "legend" }, ...seen.map((one) => element("li", {}, sign(one), ` ${one}: ${MEANS[one]}`)));
  document.getElementById("counts").append(table, legend);
  return seen;
}

function wrong() {
  const list = document.querySelector("#wrong ol");
  let many = 0;
  cells.forEach((row, number) => {
    for (const [column, results] of row) {
      for (const one of results.map(result).filter((each) => BAD.has(each.outcome))) {
        many += 1;
        if (many > 15) continue;
        const [, , example, title] = data.rows[number];
        const link = element("a", { href: address(number, column) }, `${title}${example ? ` [${example}]` : ""}`);
        list.append(element("li", {}, sign(one.outcome), element("span", {}, link, ` · ${columns[column]} `, element("small", { title: one.why }, one.why.split("\n").slice(0, 2).map((each) => each.trim()).join(" ").slice(0, 300)))));
      }
    }
  });
  if (many > 15) list.append(element("li", {}, `and ${many - 15} more, below`));
  document.getElementById("wrong").hidden = many === 0;
}

const body = document.querySelector("#matrix tbody");
const lines = [];
function matrix() {
  const head = element("tr", {}, element("th", { scope: "col" }, "Scenario"));
  data.columns.forEach(([lane, router, version], place) => head.append(element("th", { scope: "col" }, router ? columns[place] : "no router", element("small", {}, router ? version : lane))));
  document.querySelector("#matrix thead").append(head);
  document.querySelector("#matrix thead").before(element("colgroup", {}, element("col"), ...columns.map(() => element("col", { class: "cell" }))));
  let feature = "";
  data.rows.forEach(([name, id, example, title], number) => {
    if (name !== feature) {
      feature = name;
      body.append(element("tr", { class: "feature" }, element("th", { scope: "rowgroup", colSpan: columns.length + 1 }, name.replaceAll("_", " "))));
    }
    const level = data.levels[data.level[number]];
    const row = element("tr", { class: "row" }, element("th", { scope: "row" }, `${title}${example ? ` [${example}]` : ""}`, level === "must" ? "" : element("span", { class: "level" }, level), " ", element("small", {}, id)));
    const words = [id, example, title, name];
    const found = new Set();
    const shapes = new Set();
    columns.forEach((_, column) => {
      const cell = element("td");
      const results = cells[number].get(column);
      if (results) {
        const outcomes = outcomesOf(results);
        const button = element("button", { type: "button", "aria-expanded": "false", "aria-label": `${outcomes.join(" and ")}: ${title}, ${columns[column]}` }, element("span", { class: "both" }, ...outcomes.map((one) => sign(one))));
        button.dataset.cell = `${number} ${column}`;
        cell.append(button);
        outcomes.forEach((one) => found.add(one));
        shapes.add(outcomes.join());
        for (const one of results.map(result)) words.push(one.why, one.ticket);
      } else shapes.add("");
      row.append(cell);
    });
    body.append(row);
    lines.push({ row, feature: name, level, found, differ: shapes.size > 1, words: words.join(" ").toLowerCase() });
  });
}

let open = null;
function toggle(button, keep = false) {
  const [number, column] = button.dataset.cell.split(" ").map(Number);
  const same = open && open.button === button;
  if (open) { open.line.remove(); open.button.setAttribute("aria-expanded", "false"); open = null; }
  if (same && !keep) { history.replaceState(null, "", location.pathname + location.search); return; }
  const { box, close, paints } = panel(number, column, cells[number].get(column));
  const line = element("tr", { class: "detail" }, element("td", { colSpan: columns.length + 1 }, box));
  button.closest("tr").after(line);
  for (const paint of paints) paint();
  button.setAttribute("aria-expanded", "true");
  close.onclick = () => { toggle(button); button.focus(); };
  open = { button, line };
  history.replaceState(null, "", address(number, column));
}
body.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-cell]");
  if (button) toggle(button);
});
body.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && open) { const { button } = open; toggle(button); button.focus(); }
});

function go() {
  const [id, example, lane, router] = location.hash.slice(1).split("/").map(decodeURIComponent);
  const number = data.rows.findIndex((row) => row[1] === id && row[2] === (example || ""));
  const column = data.columns.findIndex((one) => one[0] === lane && one[1] === router);
  const button = body.querySelector(`button[data-cell="${number} ${column}"]`);
  if (!button) return;
  lines[number].row.hidden = false;
  toggle(button, true);
  button.closest("tr").scrollIntoView({ block: "center" });
  button.focus({ preventScroll: true });
}
addEventListener("hashchange", go);

const find = document.getElementById("find"), level = document.getElementById("level"), feature = document.getElementById("feature"), differ = document.getElementById("differ");
const hidden = new Set();
function filter() {
  const asked = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let many = 0;
  const shown = new Set();
  for (const one of lines) {
    const fits = asked.every((word) => one.words.includes(word)) && (!level.value || one.level === level.value) && (!feature.value || one.feature === feature.value) && (!differ.checked || one.differ) && [...one.found].some((outcome) => !hidden.has(outcome));
    one.row.hidden = !fits;
    if (fits) { many += 1; shown.add(one.feature); }
  }
  let at = "";
  for (const row of body.querySelectorAll("tr.feature")) {
    at = row.textContent;
    row.hidden = ![...shown].some((name) => name.replaceAll("_", " ") === at);
  }
  if (open) open.line.hidden = open.button.closest("tr").hidden;
  document.getElementById("shown").textContent = many === lines.length ? `${many} scenarios` : `${many} of ${lines.length} scenarios`;
  document.getElementById("none").hidden = many > 0;
}

const seen = counts();
wrong();
matrix();
for (const one of seen) {
  const chip = element("button", { type: "button", class: "chip", "aria-pressed": "true" }, sign(one), one);
  chip.onclick = () => {
    const on = chip.getAttribute("aria-pressed") === "false";
    chip.setAttribute("aria-pressed", String(on));
    if (on) hidden.delete(one); else hidden.add(one);
    filter();
  };
  document.getElementById("chips").append(chip);
}
for (const one of data.levels.filter((_, place) => data.level.includes(place))) level.append(element("option", {}, one));
for (const one of new Set(data.rows.map((row) => row[0]))) feature.append(element("option", { value: one }, one.replaceAll("_", " ")));
differ.parentElement.hidden = columns.length < 2;
const form = document.getElementById("filter");
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
document.getElementById("clear").onclick = () => {
  form.reset();
  for (const chip of document.querySelectorAll(".chip")) chip.setAttribute("aria-pressed", "true");
  hidden.clear();
  filter();
};
new ResizeObserver(() => root.style.setProperty("--bar", `${form.offsetHeight}px`)).observe(form);
filter();
if (location.hash) go();
void document.body.offsetHeight; // the layout counts too
root.dataset.drawn = String(Math.round(performance.now() - began));
root.dataset.rows = String(lines.length);
