// Elements, made without markup text: whatever others have written (names, claims) is only ever text.

const SVG = "http://www.w3.org/2000/svg";

/** Give an element attributes, listeners (`on`), custom properties (`vars`) and children. */
function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [type, listener] of Object.entries(value))
        element.addEventListener(type, listener);
    } else if (name === "vars") {
      for (const [key, amount] of Object.entries(value))
        element.style.setProperty(`--${key}`, amount);
    } else if (name === "value") {
      element.value = value;
    } else {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(
    ...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/**
 * An HTML element. Children are nodes or text; null, undefined and false are left out.
 * @param {string} tag
 * @param {object} [props]
 */
export const el = (tag, props = {}, ...children) =>
  fill(document.createElement(tag), props, children);

/** An SVG element. */
export const svg = (tag, props = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), props, children);

/** A button that does something; `props` may hold more attributes. */
export const button = (label, act, props = {}) =>
  el("button", { type: "button", ...props, on: { click: act } }, label);

/** Put other children into an element; the focus stays where it was and details stay open, by
 * `data-key`. */
export function refill(element, ...children) {
  const held = element.contains(document.activeElement) ? document.activeElement : null;
  const key = held?.dataset.key;
  const open = new Set(
    [...element.querySelectorAll("details[open][data-key]")].map(({ dataset }) => dataset.key),
  );
  element.replaceChildren(...children.flat(3).filter(Boolean));
  for (const details of element.querySelectorAll("details[data-key]")) {
    if (open.has(details.dataset.key)) details.open = true;
  }
  if (!held) return;
  const again = key === undefined ? null : element.querySelector(`[data-key="${CSS.escape(key)}"]`);
  again?.focus({ preventScroll: true });
}

/** A part of the page that is drawn again only where what it shows has changed. */
export class Region {
  #shown;

  constructor(element) {
    this.element = element;
  }

  /** Draw what `draw` returns, unless it was drawn from the same values before. */
  show(values, draw) {
    const now = JSON.stringify(values);
    if (now === this.#shown) return;
    this.#shown = now;
    refill(this.element, draw());
  }
}

const TOLD_MS = 15_000; // As long as it takes to read out what was told; then it is gone.

/** Tell those who do not see the page, without interrupting them. */
export function announce(text) {
  const told = document.getElementById("told");
  const line = el("p", {}, text);
  told.append(line);
  while (told.childElementCount > 30) told.firstChild.remove();
  setTimeout(() => line.remove(), TOLD_MS);
}

/** Nothing that was announced may be read again: it no longer holds, or may no longer be known. */
export function hush() {
  document.getElementById("told").replaceChildren();
}

/** Show a message that stays for a while; with `kind: "problem"` until it is closed. */
export function notice(text, kind = "note", more = null) {
  const box = el("div", { class: `notice ${kind}` }, el("p", {}, text, more ? [" ", more] : null));
  const close = button("×", () => box.remove(), {
    class: "plain close",
    "aria-label": "Close this message",
  });
  box.append(close);
  const notices = document.getElementById("notices");
  notices.append(box);
  while (notices.childElementCount > 3) notices.firstChild.remove();
  setTimeout(() => box.remove(), kind === "problem" ? 20_000 : 6_000);
}

/** A dialog with a title, shown at once and gone when closed. */
export function dialog(title, ...children) {
  const close = button("×", () => box.close(), { class: "plain close", "aria-label": "Close" });
  const heading = el("h2", { id: "dialog-title" }, title);
  const box = el(
    "dialog",
    { "aria-labelledby": "dialog-title", on: { close: () => box.remove() } },
    el("div", { class: "dialog-head" }, heading, close),
    ...children,
  );
  document.body.append(box);
  box.showModal();
  return box;
}

/** Copy text and say so. Where the browser does not allow it, the text can be marked by hand. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    notice(`${what} copied.`);
  } catch {
    notice("This browser does not let the page copy: mark the text and copy it.", "problem");
  }
}
