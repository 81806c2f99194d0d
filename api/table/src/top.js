// The bar at the top: where one is, and what one can do from here.

import { Region, button, dialog, el } from "./dom.js";
import { CHOICES, LABELS, set, setting } from "./settings.js";

/** The bar, drawn into an element. */
export class Top {
  constructor(element) {
    this.region = new Region(element);
  }

  /** Show a title, where in the game one is, and tools; drawn again where the texts or `values` change. */
  show({ title = "", where = "", tools = [], values = null }) {
    this.region.show([title, where, values, location.hash], () => [
      el(
        "a",
        { class: "home", href: "#", "aria-label": "Fairdeal, to the start" },
        el("img", { src: "/table/icon.svg", alt: "", width: 28, height: 28 }),
        el("span", {}, "Fairdeal"),
      ),
      el(
        "p",
        { class: "title" },
        el("strong", {}, title),
        where ? el("span", { class: "where" }, where) : null,
      ),
      el(
        "nav",
        { class: "tools", "aria-label": "Tools" },
        tools,
        button("Look", look, { "aria-label": "How the table looks" }),
      ),
    ]);
  }
}

function look() {
  dialog(
    "How the table looks",
    el(
      "form",
      { class: "settings" },
      Object.entries(CHOICES).map(([name, choices]) =>
        el(
          "fieldset",
          {},
          el("legend", {}, LABELS[name]),
          choices.map(([value, label]) =>
            el(
              "label",
              { class: "radio" },
              el("input", {
                type: "radio",
                name,
                value,
                checked: setting(name) === value,
                on: { change: () => set(name, value) },
              }),
              label,
            ),
          ),
        ),
      ),
    ),
  );
}
