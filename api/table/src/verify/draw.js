// Unbiased numbers from a seed, and the shuffle that they give (docs/log.md, A hand's deal).

import { encoded } from "./bytes.js";

/** The words of HMAC-SHA256(seed, "{message}:{counter}"), and numbers drawn from them. */
export class Drawing {
  #counter = 0;
  #words = [];

  constructor(key, message) {
    this.key = key;
    this.message = message;
  }

  static async from(seed, message) {
    const how = { name: "HMAC", hash: "SHA-256" };
    return new Drawing(await crypto.subtle.importKey("raw", seed, how, false, ["sign"]), message);
  }

  async #word() {
    if (this.#words.length === 0) {
      const text = encoded(`${this.message}:${this.#counter++}`);
      const block = new DataView(await crypto.subtle.sign("HMAC", this.key, text));
      this.#words = Array.from({ length: 8 }, (_, i) => block.getUint32(4 * i));
    }
    return this.#words.shift();
  }

  /** A number of 0 … bound-1, each as likely as the others. */
  async below(bound) {
    const limit = 2 ** 32 - (2 ** 32 % bound);
    for (;;) {
      const word = await this.#word();
      if (word < limit) return word % bound;
    }
  }
}

/** The pack as the seed shuffles it, before the cut. */
export async function shuffled(pack, seed, message) {
  const cards = [...pack];
  const drawing = await Drawing.from(seed, message);
  for (let i = cards.length - 1; i > 0; i--) {
    const j = await drawing.below(i + 1);
    [cards[i], cards[j]] = [cards[j], cards[i]];
  }
  return cards;
}
