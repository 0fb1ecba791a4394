// Figures: the small ones by budget are drawn here, the others come drawn.

/** A figure as it came, once for either theme, with its caption, the tables it pictures and the files. */
function picture(block) {
  const image = (theme) => el("img", { class: theme, alt: block.title, src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(inTheme(block.svg, theme))}` });
  const tables = block.tables.flatMap((name, i) => [i ? ", " : "", el("a", { href: `#table-${name}` }, name)]);
  const known = block.tables.map((name) => TABLES.get(name)).filter((table) => table);
  return el(
    "figure",
    { class: "picture", id: `figure-${block.name}` },
    el("h3", { class: "unseen" }, block.title), // it stands in the picture
    el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": block.title }, image("light"), image("dark")),
    el("figcaption", {}, block.caption),
    el(
      "div",
      { class: "tools" },
      download("SVG", `${block.name}.svg`, "image/svg+xml", () => block.svg),
      known.map((table) => download(known.length > 1 ? `CSV: ${table.name}` : "CSV", `${table.name}.csv`, "text/csv", () => table.csv)),
      el("span", { class: "from" }, block.tables.length > 1 ? "Pictures the tables " : "Pictures the table ", tables),
    ),
    origin(block.query, block.counts, `paccf figure RUN ${block.name} -o ${block.name}.svg`),
  );
}

/** A figure follows the system's theme by itself; here the page's theme decides. */
function inTheme(text, theme) {
  return text.replace("(prefers-color-scheme:dark)", theme === "dark" ? "all" : "not all");
}

const WIDTH = 260;
const HEIGHT = 96;

/** One quantity by budget: the last figure large, every budget as a dot with its interval. */
function ladder(block) {
  const last = block.steps[block.steps.length - 1];
  const saved = block.title !== "Utility";
  const text = last.value === null ? "–" : signed(saved ? -last.value : last.value);
  const unit = block.unit === "%" ? " %" : " points";
  const lo = last.lo === null ? null : saved ? -last.hi : last.lo;
  const hi = last.lo === null ? null : saved ? -last.lo : last.hi;
  return el(
    "article",
    { class: "ladder" },
    el("h3", {}, block.title),
    el("p", { class: "figure" }, text, el("small", {}, unit)),
    el("p", { class: "interval" }, lo === null ? "no interval" : `95 % interval ${signed(lo)} to ${signed(hi)}`),
    dots(block.steps.map((step) => turned(step, saved)), block.title),
    el("p", { class: "over" }, over(last, saved), " ", traced(block.table)),
  );
}

/** Savings are drawn as changes, so that less work points down. */
function turned(step, saved) {
  if (!saved || step.value === null) return step;
  return { ...step, value: -step.value, lo: step.lo === null ? null : -step.hi, hi: step.lo === null ? null : -step.lo };
}

function over(step, saved) {
  if (!saved) return `${step.pairs.toLocaleString("en")} pairs, B${step.budget}`;
  const all = step.every === null ? "" : `; all\u00a0pairs\u00a0${signed(-step.every)}\u00a0%`;
  return `${step.of.toLocaleString("en")} of ${step.pairs.toLocaleString("en")} pairs, B${step.budget}${all}`;
}

function signed(value) {
  const text = Math.abs(value).toFixed(1);
  return text === "0.0" ? text : (value < 0 ? "\u2212" : "+") + text;
}

function dots(steps, title) {
  const ends = steps.flatMap((s) => [s.lo, s.hi, s.value]).filter((v) => v !== null);
  const low = Math.min(0, ...ends);
  const high = Math.max(0, ...ends);
  const span = high - low || 1;
  const y = (v) => 8 + ((high - v) / span) * (HEIGHT - 32);
  const x = (i) => 30 + ((WIDTH - 60) * (i + 0.5)) / steps.length;
  const said = steps.map((s) => `B${s.budget} ${s.value === null ? "none" : signed(s.value)}`).join(", ");
  const marks = steps.flatMap((s, i) => [
    s.lo === null ? null : svg("line", { class: "whisker", x1: x(i), x2: x(i), y1: y(s.lo), y2: y(s.hi) }),
    s.value === null ? null : svg("circle", { class: i === steps.length - 1 ? "dot last" : "dot", cx: x(i), cy: y(s.value), r: 4 }),
    svg("text", { class: "tick", x: x(i), y: HEIGHT - 4, "text-anchor": "middle" }, `B${s.budget}`),
  ]);
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title} by budget: ${said}` },
    svg("line", { class: "zero", x1: 18, x2: WIDTH - 4, y1: y(0), y2: y(0) }),
    svg("text", { class: "tick", x: 12, y: y(0) + 4, "text-anchor": "end" }, "0"),
    marks,
  );
}
