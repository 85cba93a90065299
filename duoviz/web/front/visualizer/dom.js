// Making DOM and SVG nodes.

const SVG = "http://www.w3.org/2000/svg";

export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}

function filled(node, attributes, children) {
  setAttributes(node, attributes);
  node.append(...children);
  return node;
}

export const el = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) => (
  filled(document.createElementNS(SVG, tag), attributes, children));

export function section(name, heading, ...children) {
  const title = el("h3", { class: "dv-heading" }, heading);
  return el("section", { class: `dv-section dv-${name}`, "aria-label": heading }, title, ...children);
}

export function listen(node, acts, options = {}) {
  const listening = new AbortController();
  for (const [name, act] of Object.entries(acts)) {
    node.addEventListener(name, act, { ...options, signal: listening.signal });
  }
  return () => listening.abort();
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Shows a node or hides it; the keyboard's focus, which would be lost with it, goes to `next`.
export function setHidden(node, hidden, next) {
  const losesFocus = hidden && document.activeElement === node;
  node.hidden = hidden;
  if (losesFocus) next.focus({ preventScroll: true });
}

// Tells the node's width and height in pixels when it is first laid out and at each change. To ask for them instead
// would have the page laid out in the middle of a frame.
export function watchSize(node, tell) {
  const told = ([{ contentRect: { width, height } }]) => tell(Math.round(width), Math.round(height));
  new ResizeObserver(told).observe(node);
}

// Whether what is scrolled in a box goes on above and below.
export function tellEnds(box) {
  box.toggleAttribute("data-above", box.scrollTop > 1);
  box.toggleAttribute("data-below", box.scrollTop + box.clientHeight < box.scrollHeight - 1);
}

// How many pixels of a measured box are one of the node's own: a browser that does not tell it measures in these.
export const zoomOf = (node) => node.currentCSSZoom ?? 1;

// How many of a pointer's pixels, which are the window's, are one of a measured box.
function pointerZoom(node) {
  if (!node || node.currentCSSZoom) return 1;
  return (Number(getComputedStyle(node).zoom) || 1) * pointerZoom(node.parentElement);
}

// Where a pointer is on a node, as shares of its width and height.
export function placeOn(node, { clientX, clientY }) {
  const [{ left, top, width, height }, zoom] = [node.getBoundingClientRect(), pointerZoom(node)];
  return [(clientX / zoom - left) / width, (clientY / zoom - top) / height];
}

export const isPresented = () => document.documentElement.hasAttribute("data-present");

export function closeDrawer(node) {
  node.open = false;
  node.querySelector("summary").focus({ preventScroll: true });
}

let hasListened = false;

function listenToDrawers() {
  if (hasListened) return;
  hasListened = true;
  const opened = () => document.querySelectorAll(".dv-drawer[open]");
  const onPress = ({ target }) => { for (const node of opened()) node.open = node.contains(target); };
  listen(document, { pointerdown: onPress, keydown: ({ key }) => { if (key === "Escape") opened().forEach(closeDrawer); } });
}

// A button that opens a panel over the page; it closes where something else is pressed, and with Escape, which gives
// the button the focus again.
export function drawer(name, summary, panel) {
  listenToDrawers();
  // By keys it is scrolled from what can be pressed in it, or else from the panel itself.
  if (!panel.querySelector("button")) panel.tabIndex = 0;
  return el("details", { class: `dv-drawer ${name}` }, summary, panel);
}

export function menu(name, label, ...children) {
  const summary = el("summary", { class: "dv-button dv-button-text" }, label);
  return drawer(`dv-menu dv-menu-${name}`, summary, el("div", { class: "dv-panel" }, ...children));
}

export function button(attributes, act, ...children) {
  const node = el("button", { type: "button", ...attributes }, ...children);
  node.addEventListener("click", act);
  return node;
}

export function iconButton(label, path, act) {
  const icon = svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: path }));
  return button({ class: "dv-button", "aria-label": label, title: label }, act, icon);
}

export const textButton = (label, act) => button({ class: "dv-button dv-button-text" }, act, label);
