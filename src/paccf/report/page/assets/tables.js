// Tables: drawn when they are first opened, with their full figures to save.

const PAGE = 40; // rows of a long table that stand at first

/** A table under its title, folded unless it is one of the first to be read. */
function tableBlock(block) {
  const body = el("div", { class: "body" });
  const size = `${block.rows.length.toLocaleString("en")} ${block.rows.length === 1 ? "row" : "rows"}`;
  const fold = el(
    "details",
    { class: "table", id: `table-${block.name}`, open: block.shown },
    el("summary", {}, el("span", { class: "title" }, block.title), " ", el("span", { class: "size" }, size)),
    body,
  );
  const draw = () => {
    if (fold.open && !body.hasChildNodes()) put(body, tableBody(block));
  };
  fold.addEventListener("toggle", draw);
  draw();
  return fold;
}

function tableBody(block) {
  const box = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": block.title });
  const cells = el("tbody", {});
  addRows(cells, block, 0, block.rows.length > PAGE * 1.5 ? PAGE : block.rows.length);
  const heads = block.heads.map((head, i) => el("th", { scope: "col", class: block.words[i] ? "word" : "" }, head));
  box.append(el("table", {}, el("caption", { class: "unseen" }, block.title), el("thead", {}, el("tr", {}, heads)), cells));
  return [
    box,
    rest(cells, block),
    el(
      "div",
      { class: "tools" },
      download("CSV", `${block.name}.csv`, "text/csv", () => block.csv),
      download("JSON", `${block.name}.json`, "application/json", () => JSON.stringify(block.json, null, 1) + "\n"),
    ),
    origin(block.query, block.counts, `paccf table RUN ${block.name}`, block.notes),
  ];
}

function addRows(into, block, from, to) {
  const breaks = new Set(block.breaks);
  for (let i = from; i < to; i++) {
    const cells = block.rows[i].map((text, j) => {
      const kind = block.words[j] ? "word" : text.startsWith("-") ? "minus" : "";
      return j ? el("td", { class: kind }, text) : el("th", { scope: "row", class: kind }, text);
    });
    into.append(el("tr", { class: i && breaks.has(i) ? "break" : "" }, cells));
  }
}

/** The button that brings the rest of a long table; `null` if all of it stands. */
function rest(cells, block) {
  const shown = cells.childElementCount;
  if (shown === block.rows.length) return null;
  const more = el("button", { type: "button", class: "more" }, `Show all ${block.rows.length.toLocaleString("en")} rows`);
  more.addEventListener("click", () => {
    addRows(cells, block, shown, block.rows.length);
    more.remove();
  });
  return more;
}
