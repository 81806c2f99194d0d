// Shows what has happened one step after another. Bots act at once, so one look at the table may skip
// a whole trick: the steps between are read from the log (`/at/{version}`) and shown in turn.

import { setting } from "../settings.js";

/** Events after which the table looks another way, and for how long it is worth looking at (ms). */
const STEPS = {
  CardPlayed: 420,
  CardsShown: 1500,
  TrickTaken: 250,
  TrumpTurned: 900,
  TradeOffered: 700,
  TradeConcluded: 900,
  TradeDeclined: 300,
  TrickLeft: 900,
  ChallengeDecided: 1400,
  Announced: 900,
  CardLaid: 120,
  Passed: 250,
};
const FULL_TRICK_MS = 1100;
const MOST = 14; // More than so many steps are no fun to wait for: the earlier ones are left out.
const SPEED = { calm: 1, quick: 0.4 };

/** Steps through versions for a screen, the newest view last. */
export class Pace {
  #queue = [];
  #running = false;
  #skip = () => {};
  #skipping = false;

  /**
   * @param {(version: number) => Promise<object>} at the view as of a version
   * @param {(view: object, between: boolean) => void} show
   */
  constructor(at, show) {
    this.at = at;
    this.show = show;
  }

  /** Show the view, after the steps that lead to it (`events` since the last one). */
  async lead(view, events) {
    this.#queue.push({ view, steps: this.#steps(view, events) });
    if (this.#running) return;
    this.#running = true;
    while (this.#queue.length) {
      const { view: last, steps } = this.#queue.shift();
      if (!this.#queue.length) await this.#walk(steps);
      if (!this.#queue.length) {
        // What comes in while the last one is shown is shown after it.
        this.#skipping = false;
        this.show(last, false);
      }
    }
    this.#running = false;
  }

  /** Show the newest view at once. */
  skip() {
    this.#skipping = true;
    this.#skip();
  }

  #steps(view, events) {
    if (setting("pace") === "at once" || document.hidden) return [];
    return events
      .map((event, i) => {
        const full =
          event.type === "CardPlayed" &&
          ["TrickTaken", "TrumpTurned"].includes(events[i + 1]?.type);
        return { version: event.version, ms: full ? FULL_TRICK_MS : STEPS[event.type] };
      })
      .filter(({ version, ms }) => ms && version < view.version)
      .slice(-MOST);
  }

  async #walk(steps) {
    const views = steps.map(({ version }) => this.at(version).catch(() => null));
    for (const [i, { ms }] of steps.entries()) {
      const view = await views[i];
      if (this.#skipping || setting("pace") === "at once") return;
      if (!view) continue;
      this.show({ ...view, actions: [] }, true);
      await new Promise((done) => {
        this.#skip = done;
        setTimeout(done, ms * (SPEED[setting("pace")] ?? 1));
      });
    }
  }
}
