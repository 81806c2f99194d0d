// The start: the games on offer, games that this tab knows, the host's games and key.

import { Problem, get } from "../api.js";
import { button, el, notice } from "../dom.js";
import { heldGames, hostKey, setHostKey } from "../keys.js";

const STATUS = {
  waiting: "waiting",
  playing: "being played",
  finished: "finished",
  abandoned: "abandoned",
};

/** The first screen. */
export class HomeScreen {
  constructor(root, top, message = null) {
    Object.assign(this, { root, top, message });
  }

  async open() {
    this.top.show({});
    this.games = el("ul", { class: "offers plain-list" });
    this.mine = el("section", { class: "panel wide" });
    this.root.replaceChildren(
      el(
        "div",
        { class: "page" },
        el("h1", {}, "Sit down and play"),
        this.message ? el("p", { class: "notice problem" }, this.message) : null,
        el(
          "p",
          { class: "lead" },
          "Three card games, bots to play against, links to invite others. Every deal can be checked.",
        ),
        this.games,
        this.mine,
        el(
          "p",
          { class: "quiet" },
          "This page uses the public API alone: ",
          el("a", { href: "/schema" }, "what it can do, your app can do"),
          ".",
        ),
      ),
    );
    this.#drawMine();
    try {
      const { items } = await get("/v1/rules");
      this.titles = Object.fromEntries(items.map(({ game, title }) => [game, title]));
      this.games.replaceChildren(...items.map(offer));
    } catch (problem) {
      this.games.replaceChildren(el("li", {}, problem.message));
    }
    this.#drawMine();
  }

  leave() {
    this.left = true;
  }

  async #drawMine() {
    const key = hostKey();
    const held = heldGames();
    const heldPart = held.length
      ? [
          el("h2", {}, "At the table in this tab"),
          el(
            "ul",
            { class: "game-list plain-list" },
            held.map((id) => gameRow({ id, title: "Your seat" })),
          ),
        ]
      : [];
    if (!key) {
      this.mine.replaceChildren(...heldPart, ...this.#keyForm());
      return;
    }
    const list = el("ul", { class: "game-list plain-list" });
    const more = el("div", { class: "buttons" });
    this.mine.replaceChildren(
      ...heldPart,
      el("h2", {}, "Your games"),
      list,
      more,
      button("Forget the key in this tab", () => (setHostKey(null), this.#drawMine()), {
        class: "plain",
      }),
    );
    await this.#page(key, list, more, null);
  }

  async #page(key, list, more, cursor) {
    try {
      const page = await get(
        `/v1/games?limit=20${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`,
        { credential: key },
      );
      if (this.left) return;
      list.append(
        ...page.items.map((item) =>
          gameRow({ ...item, title: this.titles?.[item.game] ?? item.game }),
        ),
      );
      if (!list.childElementCount)
        list.append(el("li", { class: "quiet" }, "No game yet: start one above."));
      more.replaceChildren(
        ...(page.next ? [button("Older games", () => this.#page(key, list, more, page.next))] : []),
      );
    } catch (problem) {
      if (problem instanceof Problem && problem.status === 401) {
        setHostKey(null);
        notice("That key is not valid.", "problem");
        this.#drawMine();
      } else list.append(el("li", {}, problem.message));
    }
  }

  #keyForm() {
    const key = el("input", {
      type: "password",
      id: "host-key",
      autocomplete: "off",
      required: true,
      "aria-describedby": "key-help",
    });
    const submit = (event) => {
      event.preventDefault();
      setHostKey(key.value.trim());
      this.#drawMine();
    };
    return [
      el("h2", {}, "Host key"),
      el(
        "form",
        { class: "key-form", on: { submit } },
        el(
          "label",
          { for: "host-key" },
          "To start games, enter the key that the service printed when it first started",
        ),
        el(
          "span",
          { class: "inline" },
          key,
          el("button", { type: "submit", class: "main" }, "Use this key"),
        ),
        el(
          "small",
          { id: "key-help" },
          "It stays in this tab and is gone when you close it. Whoever was invited needs none: open the link.",
        ),
      ),
    ];
  }
}

function offer({ game, title, summary, min_players: min, max_players: max }) {
  const players = min === max ? `${min} players` : `${min} to ${max} players`;
  return el(
    "li",
    { class: `offer ${game}` },
    el("h2", {}, title),
    el("p", {}, summary),
    el("p", { class: "quiet" }, players),
    el(
      "p",
      { class: "buttons" },
      el(
        "a",
        { class: "button main", href: `#new=${game}` },
        "New game",
        el("span", { class: "unseen" }, ` of ${title}`),
      ),
      el(
        "a",
        { class: "button", href: `#rules=${game}` },
        "Rules",
        el("span", { class: "unseen" }, ` of ${title}`),
      ),
    ),
  );
}

function gameRow({ id, title, status, names = [], created_at: at }) {
  const players = names.map((name) => name ?? "–").join(", ");
  const when = at
    ? new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })
    : "";
  return el(
    "li",
    {},
    el("span", { class: "game-title" }, title),
    el(
      "span",
      { class: "quiet" },
      [players, status ? STATUS[status] : "", when].filter(Boolean).join(" · "),
    ),
    el(
      "span",
      { class: "buttons" },
      el(
        "a",
        { class: "button", href: `#game=${id}` },
        "Table",
        el("span", { class: "unseen" }, ` of ${title} ${players} ${when}`),
      ),
      el(
        "a",
        { class: "button", href: `#replay=${id}` },
        "Look back",
        el("span", { class: "unseen" }, ` at ${title} ${players} ${when}`),
      ),
    ),
  );
}
