// Links that give a seat, or a view of the game, to whoever opens them; and what a host may do.

import { command } from "../api.js";
import { button, copy, dialog, el, notice } from "../dom.js";
import { hostKey, invitation, known, remember } from "../keys.js";
import { complaint } from "../words/complaints.js";
import { nameOf } from "../words/people.js";

function link(label, id, token) {
  const url = invitation(id, token);
  const field = el("input", {
    type: "text",
    readonly: true,
    value: url,
    "aria-label": `Link for ${label}`,
    on: { focus: (event) => event.target.select() },
  });
  return el(
    "li",
    { class: "link" },
    el("span", { class: "link-name" }, label),
    field,
    button("Copy", () => copy(url, `The link for ${label} is`), {
      "aria-label": `Copy the link for ${label}`,
    }),
  );
}

/** A dialog with the links of a game that this tab knows, and, for the host, ways to more. */
export function showLinks(view, refresh) {
  const { id } = view;
  const held = known(id);
  const host = hostKey();
  const links = el("ul", { class: "links plain-list" });
  const draw = () => {
    const { seats = [], spectator } = known(id);
    links.replaceChildren(
      ...seats
        .filter(({ token }) => token)
        .map(({ seat, name, token }) => link(name ?? nameOf(view, seat), id, token)),
      ...(spectator ? [link("spectators", id, spectator)] : []),
    );
  };
  draw();
  const own =
    !host && held.token
      ? [
          el(
            "ul",
            { class: "links plain-list" },
            link(view.viewer.role === "seat" ? "your own seat" : "watching", id, held.token),
          ),
        ]
      : [];
  const asked = (act) => async () => {
    try {
      await act();
      draw();
      refresh();
    } catch (problem) {
      notice(complaint(problem), "problem");
    }
  };
  const box = dialog(
    "Links to this game",
    el(
      "p",
      {},
      "Whoever opens a link has that seat, and sees its cards alone: send each to one person.",
    ),
    links,
    ...own,
    host ? hostPart(view, host, asked, () => box.close()) : null,
  );
  return box;
}

function hostPart(view, host, asked, close) {
  const { id } = view;
  const path = `/v1/games/${id}`;
  const keep = (seat, name, token) => {
    const others = (known(id).seats ?? []).filter((other) => other.seat !== seat);
    remember(id, { seats: [...others, { seat, name, token }].sort((a, b) => a.seat - b.seat) });
  };
  const spectator = asked(async () =>
    remember(id, { spectator: (await command(`${path}/spectators`, host)).token }),
  );
  const missing = view.seats.filter(
    ({ seat, kind, name }) =>
      kind !== "bot" &&
      name !== null &&
      !known(id).seats?.some((held) => held.seat === seat && held.token),
  );
  const name = el("input", {
    type: "text",
    id: "join-name",
    maxlength: 64,
    required: true,
    autocomplete: "off",
  });
  const join = asked(async () => {
    const joined = await command(`${path}/seats`, host, { name: name.value });
    keep(joined.seat, joined.name, joined.token);
    if (joined.status !== "waiting") close();
    else name.value = "";
  });
  return el(
    "div",
    { class: "host-part" },
    view.status === "waiting"
      ? el(
          "form",
          { on: { submit: (event) => (event.preventDefault(), join()) } },
          el("label", { for: "join-name" }, "Name for the next open seat"),
          el(
            "span",
            { class: "inline" },
            name,
            el("button", { type: "submit", class: "main" }, "Fill the seat"),
          ),
        )
      : null,
    el(
      "div",
      { class: "buttons" },
      known(id).spectator ? null : button("A link for spectators", spectator),
      missing.map(({ seat }) =>
        button(
          `A new link for ${nameOf(view, seat)}`,
          asked(async () => {
            const issued = await command(`${path}/seats/${seat}/token`, host);
            keep(seat, nameOf(view, seat), issued.token);
          }),
          { title: "Earlier links of this seat end, and the log says so" },
        ),
      ),
      view.status === "playing" || view.status === "waiting"
        ? button(
            "Abandon the game",
            asked(async () => {
              if (confirm("End this game without winners?")) {
                await command(`${path}/abandon`, host, { reason: "" });
                close();
              }
            }),
            { class: "danger" },
          )
        : null,
    ),
  );
}
