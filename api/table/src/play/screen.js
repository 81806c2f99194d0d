// The screen on which a game is played or watched.

import { command, events, get, Problem } from "../api.js";
import { Region, announce, button, dialog, el, hush, notice } from "../dom.js";
import { credential, hostKey, known, remember } from "../keys.js";
import { Live } from "../live.js";
import { setting } from "../settings.js";
import { felt, feltValues, rulesOf } from "../table/felt.js";
import { previous, standings, taken } from "../table/side.js";
import { phaseWords, prompt, winners } from "../words/actions.js";
import { choices, timeLeft } from "./dock.js";
import { Feed } from "./feed.js";
import { hand } from "./hand.js";
import { showLinks } from "./links.js";
import { Pace } from "./pace.js";

const LINE = {
  live: null,
  away: "Connection lost. Trying again…",
  asleep: "Asleep while nobody looks.",
  over: null,
};

/** A game on the screen, from `open` to `leave`. */
export class PlayScreen {
  #taking = Promise.resolve();
  #past = 0; // What was offered up to this version has been chosen from.
  #sending = Promise.resolve();
  #shown = null;
  #prompted = "";

  constructor(root, top, id, links = false) {
    Object.assign(this, { root, top, id, links, path: `/v1/games/${id}` });
    this.live = new Live(id, () => credential(id), {
      view: (view) => (this.#taking = this.#taking.then(() => this.#take(view)).catch(reportError)),
      state: (state, problem) => this.#line(state, problem),
    });
    this.pace = new Pace(
      (version) => get(`${this.path}/at/${version}`, { credential: credential(id) }),
      (view, between) => this.#show(view, between),
    );
  }

  open() {
    this.line = el("p", { class: "connection", role: "status" });
    const region = (kind, tag = "div", props = {}) =>
      new Region(el(tag, { class: kind, ...props }));
    this.regions = {
      felt: region("felt-region"),
      prompt: region("prompt"),
      choices: region("choices-region"),
      hand: region("hand-region"),
      previous: region("previous-region"),
      side: region("side-region"),
      more: region("more-region"),
      feed: region("feed-region"),
    };
    this.clock = el("span", { class: "clock", role: "timer" });
    const { felt: table, prompt: asked, choices: ways, hand: cards, ...rest } = this.regions;
    this.root.replaceChildren(
      el("h1", { class: "unseen" }, "The table"),
      this.line,
      el(
        "div",
        { class: "play" },
        el(
          "div",
          { class: "play-main" },
          table.element,
          el(
            "section",
            { class: "dock", "aria-label": "Your move" },
            el("div", { class: "asked" }, asked.element, this.clock),
            ways.element,
            cards.element,
          ),
        ),
        el(
          "aside",
          { class: "side", "aria-label": "About the game" },
          Object.values(rest).map(({ element }) => element),
        ),
      ),
    );
    this.root.addEventListener("keydown", this.#escape);
    addEventListener("settings", this.#again);
    this.ticking = setInterval(() => this.#tick(), 1000);
    this.feed = new Feed();
    this.live.start();
  }

  leave() {
    this.live.stop();
    clearInterval(this.ticking);
    hush();
    removeEventListener("settings", this.#again);
    this.root.removeEventListener("keydown", this.#escape);
  }

  async #take(view) {
    const first = this.feed.read === null;
    const from = this.feed.read ?? Feed.start(view);
    const news = await events(this.id, credential(this.id), from).catch(() => null);
    const upto = (news ?? []).filter(({ version }) => version <= view.version);
    // What could not be read now is told with the next view.
    if (news) this.feed.read = view.version;
    if (this.feed.take(view, upto)) hush();
    this.pace.lead(view, first ? [] : upto);
  }

  #line(state, problem) {
    this.root.dataset.line = state;
    if (state === "refused") {
      this.line.replaceChildren(`${problem.message} `, el("a", { href: "#" }, "To the start"));
      this.line.className = "connection problem";
      return;
    }
    this.line.className = "connection";
    this.line.textContent = LINE[state] ?? "";
  }

  #again = () => this.#shown && this.#show(this.#shown, this.between);

  #show(view, between) {
    this.#shown = view;
    this.between = between;
    this.root.dataset.version = view.version;
    this.root.dataset.between = between;
    const { regions } = this;
    const look = [setting("suits"), setting("colours")];
    const act = (action) => this.#act(action);
    const showAll = view.opened !== null && view.status !== "playing";
    const before = new Set(
      [...regions.felt.element.querySelectorAll(".middle [data-card]")].map(
        ({ dataset }) => dataset.card,
      ),
    );
    regions.felt.show([feltValues(view, showAll), look], () => felt(view, showAll));
    for (const card of regions.felt.element.querySelectorAll(".middle .played [data-card]")) {
      if (!before.has(card.dataset.card)) card.classList.add("fresh");
    }
    const asked = prompt(view);
    regions.prompt.show([asked, between], () =>
      el("p", { class: view.actions.length ? "asked-me" : "" }, between ? "…" : asked),
    );
    this.#noteFocus();
    regions.choices.show([view.actions, view.game, look], () => choices(view, act));
    regions.hand.show([view.private, view.actions, view.status, view.hand?.phase, look], () =>
      hand(view, act),
    );
    regions.previous.show([view.previous, view.seats, look], () => previous(view));
    regions.side.show([view.scores, view.result, view.seats, view.private?.tricks, look], () => [
      standings(view),
      taken(view),
    ]);
    regions.more.show([view.table, look], () => rulesOf(view.game).more(view));
    regions.feed.show(this.feed.values(view), () => this.feed.panel(view));
    const news = this.feed.news(view).slice(-12);
    if (news.length) announce(news.join(" "));
    this.#head(view, between);
    this.#tick();
    if (!between) this.#keepFocus();
    if (this.links) {
      this.links = false;
      showLinks(view, () => this.live.refresh());
    }
  }

  /** Where in the dock the focus is before it is drawn anew: at a card of the hand, or (-1) elsewhere. */
  #noteFocus() {
    const held = document.activeElement;
    if (!this.regions.choices.element.parentElement.contains(held)) return;
    const places = [...this.regions.hand.element.querySelectorAll(".hand li")];
    this.focused = places.findIndex((place) => place.contains(held));
  }

  /** Who plays by the keyboard goes on where the next choice is: the next card, after one was played. */
  #keepFocus() {
    const lost = document.activeElement === document.body || document.activeElement === null;
    if (!lost) this.focused = undefined;
    if (this.focused === undefined || !this.#shown.actions.length) return;
    const places = [...this.regions.hand.element.querySelectorAll(".hand li")];
    const cards = places.flatMap((place) => place.querySelector("button.playable") ?? []);
    const after = cards.find((card) => places.indexOf(card.parentElement) >= this.focused);
    const other = this.regions.choices.element.querySelector("button, input");
    const next = this.focused < 0 ? (other ?? cards[0]) : (after ?? cards.at(-1) ?? other);
    next?.focus({ preventScroll: true });
    this.focused = undefined;
  }

  #head(view, between) {
    const mine =
      !between &&
      view.viewer.seat !== null &&
      view.to_act.includes(view.viewer.seat) &&
      view.status === "playing";
    document.title = `${mine ? "● Your turn – " : ""}${titleOf(view)} – Fairdeal`;
    if (mine && this.#prompted !== `${view.version}`) announce(prompt(view));
    this.#prompted = `${view.version}`;
    this.top.show({
      title: titleOf(view),
      where: view.hand
        ? `${view.game === "lorum" ? "Round" : "Hand"} ${view.hand.number} · ${phaseWords(view.hand.phase)}`
        : "",
      tools: [
        button("Links", () => showLinks(this.#shown, () => this.live.refresh())),
        el("a", { class: "button", href: `#replay=${this.id}` }, "Look back"),
        el("a", { class: "button", href: `#rules=${view.game}` }, "Rules"),
        view.viewer.role === "seat" && view.status === "playing"
          ? button("Resign", () => this.#resign())
          : null,
      ],
      values: [view.status, view.viewer],
    });
    if (view.result && !between && this.over !== view.version) {
      this.over = view.version;
      notice(
        winners(view),
        "note",
        el("a", { href: `#replay=${this.id}` }, "Look back at the game"),
      );
    }
  }

  #tick() {
    const deadline = this.#shown?.deadline;
    const words = deadline && this.#shown.status === "playing" ? timeLeft(deadline) : "";
    if (this.clock.textContent !== words) this.clock.textContent = words;
    this.clock.classList.toggle(
      "short",
      Boolean(words) && Date.parse(deadline) - Date.now() < 10_000,
    );
  }

  #escape = (event) => {
    if (event.key === "Escape" && this.between) this.pace.skip();
  };

  #act(action) {
    const view = this.#shown;
    this.#sending = this.#sending.catch(() => {}).then(() => this.#send(view, action));
  }

  async #send(view, action) {
    // A second click on a view, or one on a view that the first has outdated meanwhile, is none.
    if (view.version <= this.#past) return;
    this.root.classList.add("busy");
    const guards = {
      ...(view.hand ? { hand: view.hand.number } : {}),
      ...(view.table.offer ? { offer: view.table.offer.number } : {}),
    };
    try {
      const body = { ...action, ...guards };
      const answer = await command(`${this.path}/actions`, credential(this.id), body);
      // Its view may be outdated already: bots have answered by then. So the newest is read.
      this.#past = answer.version - 1;
      remember(this.id, { receipt: answer.receipt });
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.#refused(problem, view.game);
    } finally {
      this.root.classList.remove("busy");
      this.live.refresh().catch(() => {});
    }
  }

  #refused(problem, game) {
    const rule =
      problem.rule &&
      el("a", { href: `#rules=${game}&rule=${problem.rule}` }, `Rule ${problem.rule}`);
    const text = problem.message.charAt(0).toUpperCase() + problem.message.slice(1);
    notice(/[.!?]$/.test(text) ? text : `${text}.`, "problem", rule);
  }

  #resign() {
    const box = dialog(
      "Leave the game?",
      el("p", {}, "A bot plays your cards from then on, and you cannot come back."),
      el(
        "div",
        { class: "buttons" },
        button(
          "Resign",
          async () => {
            box.close();
            try {
              const answer = await command(`${this.path}/resign`, credential(this.id));
              remember(this.id, { receipt: answer.receipt });
              this.live.refresh().catch(() => {});
            } catch (problem) {
              notice(problem.message, "problem");
            }
          },
          { class: "danger" },
        ),
        button("Play on", () => box.close()),
      ),
    );
  }
}

const TITLES = { lodam: "Losing Lodam", lorum: "Lorum", loc: "Loc" };
export const titleOf = (view) => TITLES[view.game] ?? view.game;

/** Whether this tab may look at a game at all. */
export const mayLook = (id) => Boolean(known(id).token ?? hostKey());
