// The page: its values come from the JSON beside it, and every kind of block has one way to be drawn.

const page = JSON.parse(document.getElementById("data").textContent);

// every table of the page by its name
const TABLES = new Map(page.sections.flatMap((part) => part.blocks).filter((b) => b.kind === "table").map((b) => [b.name, b]));

const BLOCKS = {
  text: (b) => el("p", { class: `text ${b.tone}` }, prose(b.text)),
  bullets: (b) => el("ul", { class: "bullets" }, b.items.map(([head, text]) => el("li", {}, el("strong", {}, prose(head)), " ", prose(text)))),
  table: tableBlock,
  picture,
  ladder,
  verdict: (b) =>
    el("article", { class: `verdict ${b.tone}` }, el("h3", {}, b.title), el("p", { class: "figure" }, b.figure), el("p", { class: "over" }, b.text, " ", traced(b.table))),
  cases: casesBlock,
};

function section(part) {
  const made = el("section", { id: part.id, "aria-labelledby": `${part.id}-title` });
  if (part.id !== "answer") made.append(el("h2", { id: `${part.id}-title` }, part.title));
  let row = null;
  for (const block of part.blocks) {
    const small = block.kind === "ladder" || block.kind === "verdict";
    if (!small) row = null;
    else if (!row || row.dataset.kind !== block.kind) {
      row = el("div", { class: `row ${block.kind}s`, "data-kind": block.kind });
      made.append(row);
    }
    (row || made).append(BLOCKS[block.kind](block));
  }
  return made;
}

function head() {
  const facts = page.facts.map(([name, value]) => el("div", {}, el("dt", {}, name), " ", el("dd", {}, value)));
  document.getElementById("head").append(
    page.simulated ? el("p", { class: "simulated", role: "note" }, el("strong", {}, "SIMULATED"), page.simulated.replace("SIMULATED", "")) : "",
    el("div", { class: "bar" }, el("span", { class: "brand" }, "paccf report"), el("dl", { class: "facts" }, facts), theme()),
    el(
      "div",
      { class: "lead" },
      warnings(page.warnings),
      el("h1", { id: "answer-title" }, page.answer),
      el("p", { class: "detail" }, page.detail),
    ),
  );
}

const ALOUD = 2; // warnings that stand above the answer in full; of more, the others are counted there

function warnings(texts) {
  const lines = texts.map((text) => el("p", { class: "warning", role: "note" }, prose(text)));
  if (texts.length <= ALOUD) return lines;
  const rest = lines.slice(ALOUD - 1);
  return [lines[0], el("details", { class: "warned" }, el("summary", { class: "warning" }, `${rest.length} more things to know before reading this`), rest)];
}

/** From a figure to its table. */
function traced(name) {
  return TABLES.has(name) ? el("a", { class: "traced", href: `#table-${name}`, title: "Where this comes from" }, name) : null;
}

/** Light, dark, or as the system has it. */
function theme() {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const button = el("button", { type: "button", class: "quiet theme" });
  const said = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Show the page ${isDark() ? "light" : "dark"}`);
    dispatchEvent(new Event("repaint"));
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    said();
  });
  dark.addEventListener("change", said);
  said();
  return button;
}

/** On paper the page is light, whatever the screen shows. */
function printing() {
  const root = document.documentElement;
  let before;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    document.querySelectorAll(".warned").forEach((fold) => (fold.open = true));
    dispatchEvent(new Event("repaint"));
  });
  addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    dispatchEvent(new Event("repaint"));
  });
}

/** A link to a folded table opens it. */
function followed() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
}

document.title = `${page.simulated ? "SIMULATED " : ""}${page.name}: paccf report`;
head();
document.getElementById("main").append(...page.sections.map(section));
document.getElementById("contents").append(
  el("ul", {}, page.sections.map((part) => el("li", {}, el("a", { href: `#${part.id}` }, part.title)))),
  el("button", { type: "button", class: "quiet", click: () => document.querySelectorAll("details.table").forEach((d) => (d.open = true)) }, "Open every table"),
);
printing();
addEventListener("hashchange", followed);
followed();
document.documentElement.dataset.ready = "";
