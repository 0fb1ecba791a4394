"use strict";
// Making elements. Text enters the page here and only as text: no string of the record is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `el("p", {class: "lead"}, "text", child)`. A function given for an attribute listens to that event. */
function el(name, given = {}, ...children) {
  return filled(document.createElement(name), given, children);
}

/** The same in SVG. */
function svg(name, given = {}, ...children) {
  return filled(document.createElementNS(SVG, name), given, children);
}

function filled(element, given, children) {
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** Text in which `backticks` set code. */
function prose(text) {
  return text.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));
}

/** A button that saves `text()` as a file of this name. */
function download(label, name, kind, text) {
  const save = () => {
    const url = URL.createObjectURL(new Blob([text()], { type: kind }));
    const link = el("a", { href: url, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  return el("button", { type: "button", class: "quiet", title: `Save ${name}`, click: save }, label);
}

/** Puts children into an element that is there, as `el` does. */
function put(element, ...children) {
  return filled(element, {}, children);
}

/** "Where this comes from": the table or figure by name, its query, how many records, how to make it again. */
function origin(query, counts, command, notes = []) {
  const counted = counts.map(([what, n]) => `${n.toLocaleString("en")} ${what}`).join(", ");
  const few = notes.slice(0, 3).map((note) => el("p", { class: "note" }, `Note: ${note}.`));
  const rest = notes.slice(3).map((note) => el("p", { class: "note" }, `Note: ${note}.`));
  return [
    ...few,
    rest.length ? el("details", { class: "notes" }, el("summary", {}, `${rest.length} more notes`), rest) : null,
    el(
      "details",
      { class: "origin" },
      el("summary", {}, "Where this comes from"),
      el("p", {}, query + "."),
      counted ? el("p", {}, `Counted over ${counted}.`) : null,
      el("p", {}, "Made again by ", el("code", {}, command)),
    ),
  ];
}
