// Where a time stands in the picture.
//
// Scenario time jumps: minutes pass in which nothing happens, then fifty requests come at one
// instant. By events, an instant is as wide as what happened in it, its steps one after another,
// and an empty stretch grows with the logarithm of its length. By time, the picture is true to scale.

function makeAxis(line, byTime, left, width) {
  const instants = new Map();
  const slot = (ms, step) => {
    if (!instants.has(ms)) instants.set(ms, new Map());
    const steps = instants.get(ms);
    if (step >= 0 && !steps.has(step)) steps.set(step, new Map());
    return steps.get(step);
  };
  line.steps.forEach((step, number) => slot(step.at, number));
  for (const one of line.requests) {
    const found = slot(one.at, one.step);
    if (one.took > 0) slot(one.at + one.took, -1);
    else if (found) found.set(one.row, (found.get(one.row) || 0) + 1);
  }
  for (const one of line.phases) { slot(one.at, -1); slot(one.until, -1); }
  for (const one of line.breakers) slot(one.at, -1);
  for (const one of line.log) if (one.at >= 0) slot(one.at, -1);
  slot(0, -1);
  slot(line.ms, -1);

  const times = [...instants.keys()].sort((a, b) => a - b);
  const first = times[0];
  const span = Math.max(1, times[times.length - 1] - first);
  const slots = new Map();
  const edges = new Map();
  let total = 0;
  /* Empty stretches never squeeze what happened: they take three fifths of the width at the most. */
  const begins = new Map([...line.steps.entries()].map(([number, step]) => [number, step.at]));
  const weigh = (ms, step) => (begins.get(step) === ms ? 1.6 : 0.2) + Math.min(30, 0.8 * Math.max(0, ...instants.get(ms).get(step).values()));
  const gaps = times.map((ms, place) => (place ? 0.3 + 0.6 * Math.log2(1 + (ms - times[place - 1]) / 10) : 0));
  const sum = (list) => list.reduce((all, one) => all + one, 0);
  const full = sum(times.flatMap((ms) => [...instants.get(ms).keys()].map((step) => weigh(ms, step))));
  const shrink = Math.min(1, Math.max(1.5 * full, 40) / (sum(gaps) || 1));
  times.forEach((ms, place) => {
    if (!byTime) total += gaps[place] * shrink;
    const edge = { x0: total };
    for (const step of [...instants.get(ms).keys()].sort((a, b) => a - b)) {
      const start = total;
      if (!byTime) total += weigh(ms, step);
      slots.set(`${ms} ${step}`, { x0: start, x1: total });
    }
    edge.x1 = total;
    edges.set(ms, edge);
  });
  const scale = width / (total || 1);
  const place = byTime ? (ms) => left + ((ms - first) / span) * width : null;
  const scaled = (ms, part) => (byTime ? { x0: place(ms), x1: place(ms) } : { x0: left + part.x0 * scale, x1: left + part.x1 * scale });

  return {
    /* The stretch of an instant that belongs to one step; all of it for an unknown step. */
    at(ms, step) {
      return scaled(ms, slots.get(`${ms} ${step}`) || edges.get(ms));
    },
    /* Where an instant begins: what ends there ended before anything else of it. */
    edge(ms) { return scaled(ms, edges.get(ms)).x0; },
    end(ms) { return scaled(ms, edges.get(ms)).x1; },
    times,
  };
}

/* Times to write under the picture: the ends, the changes of phases, the steps; none over another. */
function ticks(line, axis, room) {
  const wanted = [
    axis.times[0], line.ms, ...line.phases.flatMap((one) => [one.at, one.until]), ...line.steps.map((one) => one.at), ...axis.times,
  ];
  const placed = [];
  for (const ms of new Set(wanted)) {
    const x = axis.edge(ms);
    if (placed.every((one) => Math.abs(one.x - x) >= room)) placed.push({ ms, x });
    if (placed.length > 40) break;
  }
  return placed;
}
