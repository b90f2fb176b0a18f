// Builds elements. Text goes in as text nodes only: what programs print is hostile HTML.

const SVG = "http://www.w3.org/2000/svg";

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...nodes(children));
  return node;
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined).map(
    (child) => (child instanceof Node ? child : document.createTextNode(String(child))),
  );
}

export function el(name, attributes = {}, ...children) {
  return build(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, name), attributes, children);
}

export function byId(id) {
  return document.getElementById(id);
}

export function put(id, ...children) {
  byId(id).replaceChildren(...nodes(children));
}

export function table(caption, head, rows) {
  return el("table", {},
    el("caption", { class: "hidden" }, caption),
    el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, rows),
  );
}

export function empty(text) {
  return el("p", { class: "empty" }, text);
}
