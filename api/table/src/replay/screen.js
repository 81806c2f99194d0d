// The replay viewer: the table as it stood at any version, with the log, the scores and the checks.

import { events as readEvents, get } from "../api.js";
import { Region, button, el } from "../dom.js";
import { credential } from "../keys.js";
import { titleOf } from "../play/screen.js";
import { setting } from "../settings.js";
import { felt, feltValues } from "../table/felt.js";
import { hand as ownHand } from "../play/hand.js";
import { nameOf } from "../words/people.js";
import { eventWords } from "../words/events.js";
import { phaseWords } from "../words/actions.js";
import { marks } from "../verify/check.js";
import { chart } from "./chart.js";
import { checksPanel } from "./checks.js";
import { eventDetail, logList } from "./log.js";
import { handAt, hands } from "./places.js";

const STEP_MS = 900;

/** A game to look back at, from `open` to `leave`. */
export class ReplayScreen {
  #views = new Map();
  #wanted = 0;

  constructor(root, top, id, at) {
    Object.assign(this, { root, top, id, at, path: `/v1/games/${id}` });
    this.marks = new Map();
    this.showAll = false;
  }

  async open() {
    try {
      const options = { credential: credential(this.id) };
      const [log, scores] = await Promise.all([this.#read(), get(`${this.path}/scores`, options)]);
      this.events = log;
      this.scores = scores;
      this.newest = await this.#viewAt(log.length);
    } catch (problem) {
      this.root.replaceChildren(el("p", { class: "notice problem" }, problem.message));
      return;
    }
    if (this.left) return;
    this.places = hands(this.events);
    this.#draw();
    addEventListener("keydown", this.#key);
    addEventListener("settings", this.#again);
    await this.#go(Math.min(this.at ?? this.places[0]?.from ?? 1, this.events.length));
    this.marks = await marks(this.id, this.events);
    this.#again();
  }

  leave() {
    this.left = true;
    clearInterval(this.playing);
    removeEventListener("keydown", this.#key);
    removeEventListener("settings", this.#again);
  }

  #read = () => readEvents(this.id, credential(this.id));

  #viewAt(version) {
    if (!this.#views.has(version)) {
      const asked = get(`${this.path}/at/${version}`, { credential: credential(this.id) });
      asked.catch(() => this.#views.delete(version));
      this.#views.set(version, asked);
    }
    return this.#views.get(version);
  }

  #draw() {
    const last = this.events.length;
    const region = (kind) => new Region(el("div", { class: kind }));
    this.regions = {
      felt: region("felt-region"),
      hand: region("hand-region"),
      words: region("replay-words"),
      log: region("log-region"),
      detail: region("detail-region"),
    };
    this.slider = el("input", {
      type: "range",
      min: 1,
      max: last,
      step: 1,
      value: "1",
      class: "time",
      "aria-label": "Version of the game",
      on: { input: () => this.#go(Number(this.slider.value)) },
    });
    this.number = el("output", { class: "version-number" });
    this.play = button("Play", () => this.#toggle(), { "aria-pressed": "false" });
    const step = (label, words, to) =>
      button(label, () => this.#go(to()), { "aria-label": words, title: words, class: "step" });
    this.handChoice = el(
      "select",
      { "aria-label": "Hand", on: { change: () => this.#go(Number(this.handChoice.value)) } },
      this.places.map(({ hand, from }) =>
        el("option", { value: from }, `${this.newest.game === "lorum" ? "Round" : "Hand"} ${hand}`),
      ),
    );
    this.trickChoice = el("select", {
      "aria-label": "Trick",
      on: { change: () => this.trickChoice.value && this.#go(Number(this.trickChoice.value)) },
    });
    this.all = el("input", {
      type: "checkbox",
      id: "show-all",
      on: { change: () => ((this.showAll = this.all.checked), this.#again()) },
    });
    this.allLabel = el("label", { for: "show-all", class: "check" }, this.all, "Show all hands");
    const names = this.newest.seats.map((_, seat) => nameOf(this.newest, seat));
    const { rules } = this.newest;
    const start = { lives: rules.lives, chips: rules.starting_chips ?? 0 };
    const jump = (version) => this.#go(version, true);
    this.root.replaceChildren(
      el("h1", { class: "unseen" }, `Looking back at a game of ${titleOf(this.newest)}`),
      el(
        "div",
        { class: "play replay" },
        el(
          "div",
          { class: "play-main" },
          this.regions.felt.element,
          el(
            "section",
            { class: "dock", "aria-label": "Time line" },
            this.regions.words.element,
            el("div", { class: "timeline" }, this.slider, this.number),
            el(
              "div",
              { class: "buttons controls" },
              step("|◀", "To the start", () => 1),
              step("◀", "One step back", () => this.version - 1),
              this.play,
              step("▶", "One step on", () => this.version + 1),
              step("▶|", "To the end", () => last),
              this.handChoice,
              this.trickChoice,
              this.allLabel,
            ),
            this.regions.hand.element,
          ),
        ),
        el(
          "aside",
          { class: "side", "aria-label": "Log" },
          el("section", { class: "panel" }, el("h2", {}, "Log"), this.regions.log.element),
          this.regions.detail.element,
        ),
      ),
      el(
        "div",
        { class: "below" },
        checksPanel(this.id, credential(this.id), this.#read, jump),
        chart(this.scores, names, start, (hand) =>
          jump(this.places.find((place) => place.hand === hand)?.from ?? 1),
        ),
      ),
    );
    this.top.show({
      title: titleOf(this.newest),
      where: "Looking back",
      tools: [
        el("a", { class: "button", href: `#game=${this.id}` }, "To the table"),
        el("a", { class: "button", href: `#rules=${this.newest.game}` }, "Rules"),
      ],
    });
    document.title = `Looking back – ${titleOf(this.newest)} – Fairdeal`;
  }

  async #go(version, scroll = false) {
    const to = Math.max(1, Math.min(version, this.events.length));
    this.#wanted = to;
    this.version = to;
    this.slider.value = String(to);
    const view = await this.#viewAt(to).catch(() => null);
    if (this.left || !view || this.#wanted !== to) return;
    this.view = view;
    this.#show();
    if (scroll) this.regions.felt.element.scrollIntoView({ block: "nearest" });
    for (const near of [to + 1, to - 1])
      if (near >= 1 && near <= this.events.length) this.#viewAt(near).catch(() => {});
  }

  #again = () => this.view && this.#show();

  #show() {
    const { view, regions } = this;
    const event = this.events[view.version - 1];
    const look = [setting("suits"), setting("colours")];
    const place = handAt(this.places, view.version);
    const shown = { ...view, actions: [] };
    const all = this.showAll && view.opened !== null;
    this.root.dataset.version = view.version;
    this.number.textContent = `${view.version} / ${this.events.length}`;
    this.slider.setAttribute("aria-valuetext", `version ${view.version} of ${this.events.length}`);
    this.all.disabled = view.opened === null;
    this.allLabel.title = view.opened === null ? "This hand has not been opened yet" : "";
    regions.felt.show([feltValues(shown, all), all, look], () => felt(shown, all));
    regions.hand.show([view.private, look], () => ownHand(shown, () => {}));
    regions.words.show([event, look], () => [
      el("p", { class: "event-now", "aria-live": "polite" }, eventWords(this.newest, event)),
      el(
        "p",
        { class: "quiet" },
        [view.hand ? phaseWords(view.hand.phase) : "", new Date(event.at).toLocaleString()]
          .filter(Boolean)
          .join(" · "),
      ),
    ]);
    const stretch = place
      ? this.events.slice(place.from - 1, place.to)
      : this.events.slice(0, (this.places[0]?.from ?? this.events.length + 1) - 1);
    regions.log.show([view.version, stretch[0]?.version, [...this.marks].length, look], () =>
      logList(stretch, this.newest, this.marks, view.version, (version) => this.#go(version)),
    );
    regions.detail.show(event, () => eventDetail(event));
    if (place) this.handChoice.value = String(place.from);
    this.#tricks(place, view.version);
    this.#keepInSight();
  }

  #tricks(place, version) {
    const tricks = place?.tricks ?? [];
    const key = String(place?.from);
    if (this.trickChoice.dataset.hand !== key) {
      this.trickChoice.dataset.hand = key;
      this.trickChoice.replaceChildren(
        el("option", { value: "" }, "Trick…"),
        ...tricks.map(({ label, version: at }) => el("option", { value: at }, label)),
      );
    }
    this.trickChoice.value = tricks.some((trick) => trick.version === version)
      ? String(version)
      : "";
    this.trickChoice.disabled = tricks.length === 0;
  }

  /** Scroll the list alone, never the page. */
  #keepInSight() {
    const box = this.regions.log.element;
    const now = box.querySelector(".now");
    if (now) box.scrollTop = now.offsetTop - box.offsetTop - box.clientHeight / 2;
  }

  #toggle() {
    const stop = () => {
      clearInterval(this.playing);
      this.playing = null;
      this.play.textContent = "Play";
      this.play.setAttribute("aria-pressed", "false");
    };
    if (this.playing) return stop();
    if (this.version >= this.events.length) this.#go(1);
    this.play.textContent = "Pause";
    this.play.setAttribute("aria-pressed", "true");
    this.playing = setInterval(
      () => (this.version >= this.events.length ? stop() : this.#go(this.version + 1)),
      STEP_MS,
    );
  }

  #key = (event) => {
    if (
      event.target.closest?.("input, select, textarea, dialog") ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    if (event.key === " " && event.target.closest?.("button, summary, a")) return;
    if (event.key === "ArrowLeft") this.#go(this.version - 1);
    else if (event.key === "ArrowRight") this.#go(this.version + 1);
    else if (event.key === " ") this.#toggle();
    else return;
    event.preventDefault();
  };
}
