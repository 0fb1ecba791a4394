// Both arms' trees of one task, on two canvases. They are one tree joined by path and laid out once, so a node stands
// at the same height in both, and both are always looked at through the same window.

const UNSEEN = 0, SEARCHED = 1, KEPT = 2, DROPPED = 3, INELIGIBLE = 4;
const ROW = 24; // a row of a small tree, and the widest a row gets, in pixels
const COLUMN = 190; // the widest a step gets
const EDGE = 14;

const HEADS = { rescued: "PAC-CF better", lost: "PAC-CF worse", tie: "Same utility, most saved" };

/** The cases to choose from, and the chosen one. */
function casesBlock(block) {
  const place = el("div", { class: "case", role: "region", "aria-label": "The chosen task" });
  let close = () => {};
  const buttons = block.cases.map((one) => {
    const choose = () => {
      close();
      place.replaceChildren();
      close = caseShown(one, place);
      for (const button of buttons) button.setAttribute("aria-pressed", String(button === chosen));
    };
    const chosen = el("button", { type: "button", "aria-pressed": "false", click: choose }, one.short);
    return chosen;
  });
  const kinds = [...new Set(block.cases.map((one) => one.what))];
  const groups = kinds.map((kind) =>
    el("div", { class: "choose", role: "group", "aria-label": kind }, el("span", {}, HEADS[kind]), buttons.filter((_, i) => block.cases[i].what === kind)),
  );
  const made = el("div", { class: "cases" }, groups, place);
  requestAnimationFrame(() => buttons[0].click());
  return made;
}

/** Puts a case into `place`; what it gives back takes its listeners off the page again. */
function caseShown(one, place) {
  const tree = laidOut(one);
  const view = { zoom: 1, left: 0, top: 0, focus: -1, fresh: true };
  const focused = el("div", { class: "focused", "aria-live": "polite" });
  const panels = ["native", "paccf"].map((arm) => panel(one, tree, arm));
  const paint = () => panels.forEach((p) => drawn(p, tree, view));
  let asked = 0;
  const draw = () => (asked ||= requestAnimationFrame(() => ((asked = 0), paint()))); // once a frame, whatever happens
  const focus = (node) => {
    view.focus = node;
    intoView(panels[0], tree, view);
    focused.replaceChildren(...described(one, tree, node));
    draw();
  };
  const zoom = (factor, at) => {
    zoomed(panels[0], tree, view, factor, at);
    draw();
  };
  const fit = () => {
    view.fresh = true;
    draw();
  };
  const next = (nodes, by = 1) => {
    if (!nodes.length) return;
    const after = by > 0 ? nodes.find((n) => n > view.focus) : nodes.findLast((n) => n < view.focus);
    focus(after ?? (by > 0 ? nodes[0] : nodes[nodes.length - 1]));
  };
  for (const p of panels) listen(p, tree, view, { draw, focus, zoom, fit, next });
  const step = (label, nodes) =>
    el("button", { type: "button", disabled: !nodes.length, click: () => next(nodes) }, `${label} (${nodes.length})`);
  put(
    place,
    el("h3", {}, one.title),
    el("p", { class: "text" }, one.removed + (one.margin ? ` The margin is ${one.margin}.` : "")),
    el(
      "div",
      { class: "tools" },
      el("button", { type: "button", "aria-label": "Zoom in", click: () => zoom(1.5) }, "+"),
      el("button", { type: "button", "aria-label": "Zoom out", click: () => zoom(1 / 1.5) }, "−"),
      el("button", { type: "button", click: fit }, "Whole tree"),
      step("Next difference", tree.different),
      step("Next lost solution", tree.lost),
      download("JSON", "case.json", "application/json", () => JSON.stringify(one, null, 1) + "\n"),
    ),
    el("div", { class: "arms" }, panels.map((p) => p.element)),
    legend(),
    focused,
    el("details", { class: "outline" }, el("summary", {}, "The same as an outline"), outline(one, tree, tree.tops, focus)),
    origin(
      "both arms' recorded frontiers of this task as far as this budget, joined by path; labels were found after the searches had ended",
      [["candidates", one.texts.length]],
      one.command,
    ),
  );
  focused.append(el("p", { class: "path" }, "Point at a candidate, or put the keyboard on a tree: arrows walk, + and − zoom, 0 shows all, n goes to the next difference, l to the next lost solution."));
  const repaint = () => {
    for (const p of panels) p.colours = colours(p.arm);
    place.querySelectorAll(".legend canvas").forEach(legendMark);
    paint(); // at once: a printer does not wait for a frame
  };
  addEventListener("repaint", repaint);
  const sizes = new ResizeObserver(draw);
  panels.forEach((p) => sizes.observe(p.canvas));
  repaint();
  return () => {
    removeEventListener("repaint", repaint);
    sizes.disconnect();
  };
}

/** Children, positions in steps and rows, and the places worth a visit. */
function laidOut(one) {
  const n = one.parents.length;
  const below = Array.from({ length: n }, () => []);
  const tops = [];
  for (let i = 0; i < n; i++) (one.parents[i] < 0 ? tops : below[one.parents[i]]).push(i);
  const root = d3.hierarchy(-1, (node) => (node < 0 ? tops : below[node]));
  d3.tree().nodeSize([1, 1]).separation((a, b) => (a.children || b.children ? 1.35 : a.parent === b.parent ? 0.9 : 1.2))(root);
  const column = new Float64Array(n), row = new Float64Array(n), levels = [];
  let least = root.x, most = root.x;
  root.eachBefore((node) => {
    least = Math.min(least, node.x);
    most = Math.max(most, node.x);
    if (node.data < 0) return;
    column[node.data] = node.depth;
    row[node.data] = node.x;
    (levels[node.depth] ||= []).push(node.data);
  });
  for (let i = 0; i < n; i++) row[i] -= least;
  for (const level of levels) level?.sort((a, b) => row[a] - row[b]);
  const sorted = Array.from(row.keys()).sort((a, b) => row[a] - row[b]);
  const kept = (s) => s === SEARCHED || s === KEPT;
  const { native, paccf } = one;
  const places = [...row.keys()];
  const different = places.filter(
    (i) => native.states[i] && paccf.states[i] && kept(native.states[i]) !== kept(paccf.states[i]),
  );
  const lost = places.filter((i) => paccf.states[i] === DROPPED && one.labels[i] === true);
  return { one, n, below, tops, column, row, levels, sorted, different, lost, rootRow: root.x - least, rows: most - least || 1, steps: levels.length - 1 || 1 };
}

function panel(one, tree, arm) {
  const side = one[arm];
  const name = arm === "native" ? "Native" : "PAC-CF";
  const canvas = el("canvas", {
    tabindex: "0",
    role: "application",
    "aria-label": `${name} tree of ${one.texts.length} candidates. Arrow keys walk, plus and minus zoom. The outline below says the same in text.`,
  });
  const facts = side.facts.map(([what, value]) => `${value} ${what}`).join(" · ");
  const element = el(
    "div",
    { class: `arm ${arm}` },
    el("h4", {}, `${name}: ${side.end}`),
    el("p", {}, facts),
    el("p", {}, side.solution ? `Answer: ${side.solution}` : "No answer"),
    canvas,
  );
  const along = new Set(side.answer);
  return { arm, side, canvas, element, along, solved: new Set(side.solved), labels: one.labels, texts: one.texts, colours: colours(arm), picture: document.createElement("canvas"), look: "" };
}

function colours(arm) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  return { own: colour(arm), paper: colour("paper"), ink: colour("ink"), soft: colour("soft"), line: colour("line"), strong: colour("strong"), sound: colour("protected"), lost: colour("lost"), focus: colour("focus") };
}

// where things are on the canvas

/** Pixels a row and a step take, and where the first ones are. */
function frame(canvas, tree, view) {
  const wide = canvas.clientWidth, high = canvas.clientHeight;
  const row = Math.min(ROW, (high - 2 * EDGE) / tree.rows) * view.zoom;
  const whole = (wide - 2 * EDGE - 26) / tree.steps;
  const step = Math.max(whole, Math.min(whole * Math.sqrt(view.zoom), COLUMN));
  if (view.fresh) {
    view.fresh = false;
    view.zoom = 1;
    return frame(canvas, tree, Object.assign(view, { left: 0, top: 0 }));
  }
  const spareHigh = high - 2 * EDGE - row * tree.rows;
  const spareWide = wide - 2 * EDGE - 26 - step * tree.steps;
  view.top = spareHigh >= 0 ? spareHigh / 2 : Math.max(spareHigh, Math.min(0, view.top));
  view.left = spareWide >= 0 ? 0 : Math.max(spareWide - 120, Math.min(0, view.left));
  return { wide, high, row, step, x: (i) => EDGE + view.left + (i < 0 ? 0 : tree.column[i]) * step, y: (i) => EDGE + view.top + (i < 0 ? tree.rootRow : tree.row[i]) * row };
}

function zoomed(p, tree, view, factor, at) {
  const before = frame(p.canvas, tree, view);
  const high = at ? at.y : view.focus >= 0 ? before.y(view.focus) : before.high / 2;
  const wide = at ? at.x : view.focus >= 0 ? before.x(view.focus) : 0;
  const most = Math.max(1, (ROW / before.row) * view.zoom);
  const old = { row: before.row, step: before.step };
  view.zoom = Math.min(most, Math.max(1, view.zoom * factor));
  const after = frame(p.canvas, tree, view);
  view.top = high - EDGE - ((high - EDGE - view.top) * after.row) / old.row;
  view.left = wide - EDGE - ((wide - EDGE - view.left) * after.step) / old.step;
}

/** Moves the window so that the focused node is in it. */
function intoView(p, tree, view) {
  const f = frame(p.canvas, tree, view);
  const y = f.y(view.focus), x = f.x(view.focus);
  if (y < EDGE || y > f.high - EDGE) view.top += f.high / 2 - y;
  if (x < EDGE || x > f.wide - 60) view.left += f.wide / 2 - x;
}

/** The node at a point, or -1. Looks only at the rows around it. */
function nodeAt(p, tree, view, x, y) {
  const f = frame(p.canvas, tree, view);
  const reach = 12;
  let best = -1, near = reach * reach;
  for (let k = firstBelow(tree, (y - reach - EDGE - view.top) / f.row); k < tree.n; k++) {
    const i = tree.sorted[k];
    const dy = f.y(i) - y;
    if (dy > reach) break;
    const dx = f.x(i) - x;
    const far = dx * dx + dy * dy - (p.side.states[i] ? 1 : 0);
    if (far < near) [best, near] = [i, far];
  }
  return best;
}

/** The place in `sorted` of the first node at or below a row. */
function firstBelow(tree, row) {
  let low = 0, high = tree.n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tree.row[tree.sorted[middle]] < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

// drawing

function drawn(p, tree, view) {
  const { canvas, colours: c } = p;
  const scale = devicePixelRatio || 1;
  const f = frame(canvas, tree, view);
  if (!f.wide) return;
  if (canvas.width !== Math.round(f.wide * scale) || canvas.height !== Math.round(f.high * scale)) {
    canvas.width = Math.round(f.wide * scale);
    canvas.height = Math.round(f.high * scale);
  }
  const radius = Math.max(1.2, Math.min(5, f.row * 0.36));
  const look = [view.zoom, view.left, view.top, f.wide, f.high, scale, c.paper].join();
  if (p.look !== look) {
    p.look = look;
    p.picture.width = canvas.width;
    p.picture.height = canvas.height;
    const to = p.picture.getContext("2d");
    to.setTransform(scale, 0, 0, scale, 0, 0);
    to.fillStyle = c.paper;
    to.fillRect(0, 0, f.wide, f.high);
    const seen = inSight(p, tree, f);
    links(to, p, tree, f, seen, radius);
    marks(to, p, f, seen, radius);
    if (f.row >= 11) names(to, p, tree, f, seen, radius);
  }
  // pointing at nodes costs no more than this
  const to = canvas.getContext("2d");
  to.setTransform(1, 0, 0, 1, 0, 0);
  to.drawImage(p.picture, 0, 0);
  to.setTransform(scale, 0, 0, scale, 0, 0);
  if (view.focus >= 0) path(to, c.focus, 2, () => ring(to, f.x(view.focus), f.y(view.focus), radius + 5));
}

/** The nodes to draw: those in the window and, of a dense tree, one of those that would look alike on one pixel. */
function inSight(p, tree, f) {
  const { states } = p.side, { parents } = tree.one;
  const dense = f.row < 1, drawnThere = new Set(), seen = [];
  for (let i = 0; i < tree.n; i++) {
    const y = f.y(i), up = f.y(parents[i]);
    if (Math.max(y, up) < -20 || Math.min(y, up) > f.high + 20) continue;
    if (dense && !p.along.has(i) && !p.solved.has(i)) {
      const look = ((tree.column[i] * 65536 + Math.round(y)) * 65536 + Math.round(up)) * 16 + states[i] * 2 + (p.labels[i] ? 1 : 0);
      if (drawnThere.has(look)) continue;
      drawnThere.add(look);
    }
    seen.push(i);
  }
  return seen;
}

function links(to, p, tree, f, seen, radius) {
  const { colours: c, side } = p;
  const curve = (i) => {
    const up = tree.one.parents[i];
    const x = f.x(i), y = f.y(i), from = f.x(up), high = f.y(up), middle = (x + from) / 2;
    to.moveTo(from, high);
    to.bezierCurveTo(middle, high, middle, y, x, y);
  };
  const all = (keep, colour, width) => path(to, colour, width, () => seen.filter(keep).forEach(curve));
  const thin = radius < 2 ? 0.5 : 1;
  all((i) => side.states[i] === DROPPED || side.states[i] === INELIGIBLE, c.line, thin);
  all((i) => side.states[i] === SEARCHED || side.states[i] === KEPT, c.strong, thin);
  all((i) => p.along.has(i), c.own, Math.max(1.5, radius * 0.6));
  to.fillStyle = c.ink;
  to.beginPath();
  ring(to, f.x(-1), f.y(-1), radius);
  to.fill();
}

function marks(to, p, f, seen, radius) {
  const { colours: c, side, labels } = p;
  const those = (keep) => seen.filter((i) => keep(side.states[i], i));
  const rings = (nodes, r) => nodes.forEach((i) => ring(to, f.x(i), f.y(i), r));
  path(to, c.line, 1, () => rings(those((s) => s === UNSEEN), Math.max(0.8, radius * 0.35)));
  path(to, c.strong, 1, () => rings(those((s) => s === INELIGIBLE), radius * 0.4));
  const dropped = those((s) => s === DROPPED);
  path(to, c.soft, radius < 2 ? 0.8 : 1.3, () => dropped.filter((i) => !labels[i]).forEach((i) => cross(to, f.x(i), f.y(i), radius * 0.75)));
  fill(to, c.paper, () => rings(those((s) => s === KEPT), radius * 0.8));
  path(to, c.own, 1.2, () => rings(those((s) => s === KEPT), radius * 0.8));
  fill(to, c.own, () => rings(those((s) => s === SEARCHED), radius));
  path(to, c.sound, Math.max(1.2, radius * 0.4), () => rings(those((s, i) => labels[i] && s !== UNSEEN && s !== DROPPED), radius + 1.6));
  path(to, c.lost, Math.max(1.6, radius * 0.5), () => dropped.filter((i) => labels[i]).forEach((i) => cross(to, f.x(i), f.y(i), radius + 1)));
  fill(to, c.sound, () => those((s, i) => p.solved.has(i)).forEach((i) => star(to, f.x(i), f.y(i), radius + 3.5)));
}

function names(to, p, tree, f, seen, radius) {
  const { colours: c, side, texts } = p;
  to.font = "11px system-ui, sans-serif";
  to.textBaseline = "middle";
  to.lineWidth = 3;
  to.strokeStyle = c.paper;
  for (const i of seen) {
    if (!side.states[i]) continue;
    const room = (tree.below[i].length ? f.step : f.wide - f.x(i)) - radius - 12;
    const score = side.scores[i];
    const whole = `${score === null ? "" : `${Number(score.toFixed(2))}  `}${texts[i]}`;
    const long = Math.floor(room / 5.6);
    if (long < 3) continue;
    const text = whole.length > long ? whole.slice(0, long - 1) + "…" : whole;
    to.fillStyle = side.states[i] === DROPPED || side.states[i] === INELIGIBLE ? c.soft : c.ink;
    to.strokeText(text, f.x(i) + radius + 6, f.y(i));
    to.fillText(text, f.x(i) + radius + 6, f.y(i));
  }
}

function path(to, colour, width, draw) {
  to.strokeStyle = colour;
  to.lineWidth = width;
  to.beginPath();
  draw();
  to.stroke();
}

function fill(to, colour, draw) {
  to.fillStyle = colour;
  to.beginPath();
  draw();
  to.fill();
}

function ring(to, x, y, r) {
  to.moveTo(x + r, y);
  to.arc(x, y, r, 0, 2 * Math.PI);
}

function cross(to, x, y, r) {
  to.moveTo(x - r, y - r);
  to.lineTo(x + r, y + r);
  to.moveTo(x - r, y + r);
  to.lineTo(x + r, y - r);
}

function star(to, x, y, r) {
  for (let k = 0; k < 10; k++) {
    const far = k % 2 ? r * 0.45 : r, turn = (Math.PI * (k * 2 - 5)) / 10;
    (k ? to.lineTo : to.moveTo).call(to, x + far * Math.cos(turn), y + far * Math.sin(turn));
  }
  to.closePath();
}

const LEGEND = [
  ["searched", SEARCHED, false],
  ["kept, not searched further", KEPT, false],
  ["dropped", DROPPED, false],
  ["never came up in this arm", UNSEEN, false],
  ["a solution can be reached", SEARCHED, true],
  ["dropped, though a solution could be reached", DROPPED, true],
];

function legend() {
  const entries = LEGEND.map(([text], i) => el("li", {}, el("canvas", { "data-entry": i, "aria-hidden": "true" }), text));
  return el("ul", { class: "legend" }, entries, el("li", {}, "thick line: the way to the answer"));
}

function legendMark(canvas) {
  const [, state, label] = LEGEND[canvas.dataset.entry];
  const scale = devicePixelRatio || 1;
  canvas.width = canvas.height = 18 * scale;
  const to = canvas.getContext("2d");
  to.setTransform(scale, 0, 0, scale, 0, 0);
  const f = { x: () => 9, y: () => 9 };
  marks(to, { colours: colours("paccf"), side: { states: [state] }, labels: [label], solved: new Set() }, f, [0], 4.2);
}

// pointer and keys

function listen(p, tree, view, act) {
  const { canvas } = p;
  const held = new Map();
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const apart = () => {
    const [a, b] = [...held.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  const point = (where) => {
    const node = nodeAt(p, tree, view, where.x, where.y);
    if (node >= 0 && node !== view.focus) act.focus(node);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, at(event));
    point(at(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = at(event), then = held.get(event.pointerId);
    if (!then) return void (event.pointerType === "mouse" && point(now));
    const wide = held.size === 2 ? apart() : 0;
    held.set(event.pointerId, now);
    if (held.size === 2) return act.zoom(apart() / (wide || 1), now);
    view.left += now.x - then.x;
    view.top += now.y - then.y;
    act.draw();
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => held.delete(event.pointerId));
  // the wheel scrolls the page, and zooms only a tree that was clicked on
  const wheel = (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    act.zoom(Math.exp(-event.deltaY / 400), at(event));
  };
  canvas.addEventListener("wheel", wheel, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const does = keys(tree, view, act)[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
}

function keys(tree, view, act) {
  const now = view.focus;
  const to = (node) => () => act.focus(node ?? (now < 0 ? tree.tops[0] : now));
  const beside = (by) => {
    if (now < 0) return tree.tops[0];
    const level = tree.levels[tree.column[now]];
    return level[Math.max(0, Math.min(level.length - 1, level.indexOf(now) + by))];
  };
  const up = now >= 0 && tree.one.parents[now] >= 0 ? tree.one.parents[now] : undefined;
  return {
    ArrowUp: to(beside(-1)),
    ArrowDown: to(beside(1)),
    ArrowLeft: to(up),
    ArrowRight: to(now < 0 ? tree.tops[0] : tree.below[now][0]),
    PageUp: to(beside(-10)),
    PageDown: to(beside(10)),
    Home: to(tree.tops[0]),
    "+": () => act.zoom(1.5),
    "=": () => act.zoom(1.5),
    "-": () => act.zoom(1 / 1.5),
    0: act.fit,
    n: () => act.next(tree.different),
    N: () => act.next(tree.different, -1),
    l: () => act.next(tree.lost),
    L: () => act.next(tree.lost, -1),
  };
}

// words

const LABELS = new Map([[true, "A solution can be reached from here."], [false, "No solution can be reached from here."], [null, "Whether a solution can be reached is not known."]]);

/** A node in words: its path, its label, and what each arm made of it and why. */
function described(one, tree, node) {
  const along = [];
  for (let i = node; i >= 0; i = one.parents[i]) along.unshift(one.texts[i]);
  const label = one.labels[node];
  return [
    el("p", { class: "path" }, along.slice(0, -1).map((text) => text + " › "), el("b", {}, along[along.length - 1])),
    el("p", { class: label ? "sound" : "" }, LABELS.get(label)),
    el("p", {}, el("b", {}, "Native: "), made(one, "native", node)),
    el("p", {}, el("b", {}, "PAC-CF: "), made(one, "paccf", node)),
  ];
}

function made(one, arm, node) {
  const side = one[arm];
  const state = side.states[node];
  if (state === UNSEEN) return "never came to it.";
  const score = side.scores[node], behind = side.deficits[node], visits = side.visits[node];
  const said = [score === null ? "no score" : `score ${Number(score.toFixed(4))}`];
  if (behind !== null) said.push(behind === 0 ? "the best of its frontier" : `${Number(behind.toFixed(4))} behind the best`);
  if (state === INELIGIBLE) said.push("not eligible");
  else if (state === DROPPED) said.push(arm === "paccf" && one.margin ? `dropped: beyond the margin ${one.margin}` : "dropped by the controller's own rule");
  else said.push(state === SEARCHED ? "kept and searched" : "kept, not searched further");
  if (visits) said.push(`${visits} ${visits === 1 ? "visit" : "visits"}`);
  if (side.solved.includes(node)) said.push("a verified solution");
  return said.join(", ") + ".";
}

const SHORT = ["not seen", "searched", "kept", "dropped", "not eligible"];

/** Nested lists that are filled when they are opened. */
function outline(one, tree, nodes, focus) {
  return el("ul", {}, nodes.map((i) => {
    const lost = one.paccf.states[i] === DROPPED && one.labels[i];
    const score = one.native.scores[i] ?? one.paccf.scores[i];
    const text = [
      one.texts[i],
      el("span", { class: lost ? "lost" : one.labels[i] ? "sound" : "" }, ` ${score === null ? "unscored" : Number(score.toFixed(2))}; Native ${SHORT[one.native.states[i]]}; PAC-CF ${SHORT[one.paccf.states[i]]}${one.labels[i] ? "; a solution can be reached" : ""}`),
    ];
    if (!tree.below[i].length) return el("li", {}, text);
    const fold = el("details", {}, el("summary", {}, text));
    fold.addEventListener("toggle", () => {
      if (!fold.open) return;
      focus(i);
      if (fold.childElementCount === 1) fold.append(outline(one, tree, tree.below[i], focus));
    });
    return el("li", {}, fold);
  }));
}
