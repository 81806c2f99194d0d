// The log beside the replay: every event in words, with the state of its hash and parts.

import { el } from "../dom.js";
import { eventWords } from "../words/events.js";

const STATES = {
  passed: ["✓", "hash and open parts fit"],
  sealed: ["◐", "hash fits; some parts are sealed to you"],
  erased: ["○", "hash fits; a name was erased"],
  failed: ["✗", "does not fit"],
};

function item(event, view, state, current, jump) {
  const [sign, words] = STATES[state] ?? ["·", "not checked"];
  return el(
    "li",
    { class: event.version === current ? "now" : "" },
    el(
      "button",
      {
        type: "button",
        class: "plain event",
        "data-key": `event-${event.version}`,
        "data-version": event.version,
        "aria-current": event.version === current ? "step" : null,
        on: { click: () => jump(event.version) },
      },
      el("span", { class: "number" }, String(event.version)),
      el(
        "span",
        { class: `mark ${state ?? ""}`, title: words },
        sign,
        el("span", { class: "unseen" }, ` ${words}. `),
      ),
      el("span", { class: "event-words" }, eventWords(view, event)),
    ),
  );
}

/** The events of a stretch of the log. */
export function logList(events, view, marks, current, jump) {
  return el(
    "ol",
    { class: "log plain-list", "aria-label": "Events" },
    events.map((event) => item(event, view, marks.get(event.version), current, jump)),
  );
}

const part = (one, index) =>
  el(
    "li",
    {},
    `Part ${index + 1}, for ${Array.isArray(one.for) ? (one.for.length ? one.for.map((s) => `seat ${s + 1}`).join(", ") : "nobody until opened") : one.for}: `,
    one.erased
      ? "erased"
      : one.data === undefined
        ? "sealed"
        : el("code", {}, JSON.stringify(one.data)),
    el("small", { class: "hash" }, one.digest),
  );

/** One event as it stands in the log. */
export function eventDetail(event) {
  return el(
    "details",
    { class: "panel", "data-key": "detail" },
    el("summary", {}, `Version ${event.version} in the log: ${event.type}`),
    el(
      "dl",
      {},
      el("dt", {}, "At"),
      el("dd", {}, event.at),
      el("dt", {}, "Data"),
      el("dd", {}, el("code", {}, JSON.stringify(event.data))),
      event.sealed.length
        ? [
            el("dt", {}, "Sealed parts"),
            el("dd", {}, el("ul", { class: "plain-list" }, event.sealed.map(part))),
          ]
        : null,
      el("dt", {}, "Hash of the one before"),
      el("dd", { class: "hash" }, event.prev),
      el("dt", {}, "Hash"),
      el("dd", { class: "hash" }, event.hash),
    ),
  );
}
