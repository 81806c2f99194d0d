// The rulebook of a game, from its Markdown, as text that may name a rule.

import { get } from "../api.js";
import { el } from "../dom.js";

/** `code`, *stress*, **strong** and [rule.ids] inside a line. */
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*|\[[a-z]+\.[a-z0-9-]+\])/).map((part) => {
    if (/^`.+`$/.test(part)) return el("code", {}, part.slice(1, -1));
    if (/^\*\*.+\*\*$/.test(part)) return el("strong", {}, part.slice(2, -2));
    if (/^\*.+\*$/.test(part)) return el("em", {}, part.slice(1, -1));
    if (/^\[[a-z]+\./.test(part))
      return el(
        "span",
        { class: "rule-id", "data-rule": part.slice(1, -1), tabindex: "-1" },
        part.slice(1, -1),
      );
    return part;
  });
}

function table(lines) {
  const cells = (line) =>
    line
      .replace(/^\||\|$/g, "")
      .split("|")
      .map((cell) => cell.trim());
  const [head, , ...rows] = lines;
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table" },
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          cells(head).map((cell) => el("th", { scope: "col" }, inline(cell))),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            {},
            cells(row).map((cell) => el("td", {}, inline(cell))),
          ),
        ),
      ),
    ),
  );
}

function block(text) {
  const lines = text.split("\n");
  const heading = /^(#{1,4}) (.+)/.exec(text);
  if (heading) {
    const rest = lines.slice(1).join("\n").trim();
    return [
      el(`h${heading[1].length}`, {}, inline(heading[2].split("\n")[0])),
      ...(rest ? [block(rest)].flat() : []),
    ];
  }
  if (lines[0].startsWith("|")) return table(lines);
  if (/^[-*] /.test(text)) {
    return el(
      "ul",
      {},
      text
        .split(/\n(?=[-*] )/)
        .map((item) => el("li", {}, inline(item.slice(2).replace(/\s+/g, " ")))),
    );
  }
  return el("p", {}, inline(text.replace(/\s+/g, " ")));
}

/** The rules of a game to read; where a rule is named, that is where one begins. */
export class RulesScreen {
  constructor(root, top, game, rule) {
    Object.assign(this, { root, top, game, rule });
  }

  async open() {
    try {
      const { title, rulebook } = await get(`/v1/rules/${encodeURIComponent(this.game)}`);
      if (this.left) return;
      this.top.show({
        title: `Rules of ${title}`,
        tools: [el("a", { class: "button", href: `#new=${this.game}` }, "New game")],
      });
      const blocks = rulebook
        .trim()
        .split(/\n{2,}/)
        .flatMap((text) => block(text.trim()));
      this.root.replaceChildren(el("article", { class: "page rulebook" }, blocks));
      const named = this.rule && this.root.querySelector(`[data-rule="${CSS.escape(this.rule)}"]`);
      if (named) {
        named.classList.add("named");
        named.scrollIntoView({ block: "center" });
        named.focus({ preventScroll: true });
      }
    } catch (problem) {
      this.root.replaceChildren(el("p", { class: "notice problem" }, problem.message));
    }
  }

  leave() {
    this.left = true;
  }
}
