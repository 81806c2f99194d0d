// Keeps a view of a game up to date: by the live stream, or by long polling where there is none.
// Whatever comes only tells that there is something new; what is shown is always read again.

import { Problem, ask } from "./api.js";
import { messages } from "./sse.js";

const SILENT_MS = 40_000; // The service sends something at least every 15 s.
const FIRST_MS = 10_000; // And its first message at once.
const HIDDEN_MS = 60_000; // How long a tab that nobody looks at stays connected.
const WAIT_SECONDS = 25;
const SLOWEST_MS = 5_000;

const pause = (ms, signal) =>
  new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });

/** Follows one game for one caller, from `start` to `stop`. */
export class Live {
  #stopped = false;
  #connection = new AbortController();
  #wake = () => {};
  #failures = 0;
  #streams = true;
  #silent = 0;
  #reading = null;
  #again = false;
  version = 0;

  /**
   * @param {string} id
   * @param {() => string | null} credential
   * @param {{view: (view: object) => void, state: (state: string, problem?: Problem) => void}} tell
   *   `state` is "live", "away" (trying again), "asleep" (nobody looks), "over" or "refused".
   */
  constructor(id, credential, tell) {
    Object.assign(this, { id, credential, tell, path: `/v1/games/${id}` });
  }

  start() {
    document.addEventListener("visibilitychange", this.#visibility);
    addEventListener("online", this.#online);
    addEventListener("offline", this.#offline);
    this.#run();
  }

  stop() {
    this.#stopped = true;
    clearTimeout(this.hiding);
    document.removeEventListener("visibilitychange", this.#visibility);
    removeEventListener("online", this.#online);
    removeEventListener("offline", this.#offline);
    this.#connection.abort();
    this.#wake();
  }

  /** Read the view again, unless it is what we have; one reading at a time. */
  refresh() {
    this.#again = true;
    this.#reading ??= this.#readAll().finally(() => (this.#reading = null));
    return this.#reading;
  }

  #take(view) {
    if (view.version <= this.version) return;
    this.version = view.version;
    this.tell.view(view);
  }

  async #readAll() {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      const headers = this.version ? { "If-None-Match": `"${this.version}"` } : {};
      const answer = await ask(this.path, { credential: this.credential(), headers });
      if (answer.status !== 304) this.#take(await answer.json());
    }
  }

  async #run() {
    while (!this.#stopped) {
      try {
        if (this.asleep) await this.#sleep();
        else if (await (this.#streams ? this.#stream() : this.#poll())) return this.#end("over");
      } catch (error) {
        if (this.#stopped) return;
        if (error instanceof Problem && !error.passing) return this.#end("refused", error);
        if (!this.asleep) await this.#away();
      }
    }
  }

  #end(state, problem) {
    this.tell.state(state, problem);
    this.stop();
  }

  #connect() {
    this.#connection = new AbortController();
    return this.#connection.signal;
  }

  #reached() {
    this.#failures = 0;
    this.tell.state("live");
  }

  async #away() {
    this.#failures += 1;
    if (this.#failures > 1) this.tell.state("away");
    await pause(Math.min(SLOWEST_MS, 250 * 2 ** this.#failures), this.#connect());
  }

  /** Follow the stream until it ends; true where the game is over. */
  async #stream() {
    const connection = this.#connect();
    let timer = setTimeout(() => this.#connection.abort(), FIRST_MS);
    let answered = false;
    try {
      const answer = await ask(`${this.path}/events`, {
        credential: this.credential(),
        headers: { Accept: "text/event-stream" },
        signal: connection,
      });
      answered = true;
      for await (const message of messages(answer.body)) {
        answered = false;
        this.#silent = 0;
        clearTimeout(timer);
        timer = setTimeout(() => this.#connection.abort(), SILENT_MS);
        this.#reached();
        if (message.event === "snapshot") this.#take(JSON.parse(message.data));
        else if (message.event !== null) await this.refresh();
        if (message.event === "end") return true;
      }
    } catch (error) {
      if (error instanceof Problem && error.status === 406) {
        this.#streams = false;
        return false;
      }
      throw error;
    } finally {
      clearTimeout(timer);
      // A proxy that keeps streams back answers and then is silent: plain requests pass it.
      if (answered && !this.asleep && ++this.#silent >= 2) this.#streams = false;
    }
    throw new Problem(0);
  }

  /** Wait for a newer view; true where the game is over. */
  async #poll() {
    const connection = this.#connect();
    const waiting = this.version ? `?after=${this.version}&wait=${WAIT_SECONDS}` : "";
    const answer = await ask(this.path + waiting, {
      credential: this.credential(),
      signal: connection,
    });
    const view = await answer.json();
    this.#reached();
    this.#take(view);
    return view.status === "finished" || view.status === "abandoned";
  }

  async #sleep() {
    this.tell.state("asleep");
    await new Promise((done) => (this.#wake = done));
  }

  #visibility = () => {
    clearTimeout(this.hiding);
    if (document.hidden) {
      this.hiding = setTimeout(() => {
        this.asleep = true;
        this.#connection.abort();
      }, HIDDEN_MS);
    } else if (this.asleep) {
      this.asleep = false;
      this.#wake();
    }
  };

  #online = () => this.#connection.abort();

  #offline = () => {
    this.#failures = Math.max(this.#failures, 1);
    this.tell.state("away");
    this.#connection.abort();
  };
}
