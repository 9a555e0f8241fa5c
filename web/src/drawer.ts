// Equations and mobility of a mechanism, in a drawer: formulas are copied element by element.
import { el } from "./dom";
import type { About } from "./scene";

const MATH = "http://www.w3.org/1998/Math/MathML";
const HTML = new Set(["h2", "h3", "p", "table", "tbody", "tr", "td", "th", "div", "span", "ul", "li", "code"]);
const FORMULA = /^(math|m[a-z]+|semantics)$/;
const ATTRIBUTES = new Set(["displaystyle", "width", "lspace", "rspace", "stretchy", "mathvariant", "accent", "columnalign"]);

export function drawer(about: About): HTMLElement {
  const box = el("details", { class: "drawer" }, el("summary", { text: "Equations and mobility" }));
  if (about.mobility) box.append(el("h3", { text: "Mobility" }), el("pre", { text: about.mobility, attributes: { tabindex: "0" } }));
  if (about.equations) {
    const read = new DOMParser().parseFromString(about.equations, "text/html");
    const shown = el("div", { class: "equations", attributes: { tabindex: "0", role: "region", "aria-label": "Equations" } });
    copy(read.body, shown);
    box.append(el("h3", { text: "Equations" }), shown);
  }
  if (about.note) box.append(el("p", { class: "empty", text: about.note }));
  return box;
}

/** Children of an element that are formulas, tables or texts; of anything else only its texts. */
function copy(from: Element, into: Element): void {
  for (const child of from.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) into.append(child.textContent ?? "");
    if (child.nodeType !== Node.ELEMENT_NODE) continue;
    const one = child as Element;
    const name = one.localName;
    if (name === "script" || name === "style") continue;
    const isFormula = one.namespaceURI === MATH && FORMULA.test(name);
    if (!isFormula && !HTML.has(name)) {
      copy(one, into);
      continue;
    }
    const made = isFormula ? document.createElementNS(MATH, name) : document.createElement(name);
    for (const { name: key, value } of one.attributes)
      if (isFormula && ATTRIBUTES.has(key)) made.setAttribute(key, value);
    copy(one, made);
    into.append(made);
  }
}
