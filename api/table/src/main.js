// Where the page begins: the fragment says which screen is shown.

import { el } from "./dom.js";
import { takeFragment } from "./keys.js";
import { PlayScreen, mayLook } from "./play/screen.js";
import { ReplayScreen } from "./replay/screen.js";
import { RulesScreen } from "./setup/rulebook.js";
import { SetupScreen } from "./setup/form.js";
import { HomeScreen } from "./setup/home.js";
import { Top } from "./top.js";

const root = document.getElementById("main");
const top = new Top(document.getElementById("top"));
let screen = null;

/** The screen for a fragment. */
function chosen(wanted) {
  const [game, replay] = [wanted.get("game"), wanted.get("replay")];
  if ((game && !mayLook(game)) || (replay && !mayLook(replay)))
    return new HomeScreen(root, top, "That link needs its token, or the host’s key.");
  if (game) return new PlayScreen(root, top, game, wanted.has("links"));
  if (replay) return new ReplayScreen(root, top, replay, Number(wanted.get("at")) || null);
  if (wanted.get("new")) return new SetupScreen(root, top, wanted.get("new"));
  if (wanted.get("rules"))
    return new RulesScreen(root, top, wanted.get("rules"), wanted.get("rule"));
  return new HomeScreen(root, top);
}

function go() {
  const wanted = takeFragment();
  screen?.leave();
  document.querySelectorAll("dialog").forEach((box) => box.close());
  root.removeAttribute("class");
  for (const name of Object.keys(root.dataset)) delete root.dataset[name];
  root.replaceChildren(el("p", { class: "quiet" }, "One moment…"));
  document.title = "Fairdeal";
  top.show({});
  screen = chosen(wanted);
  screen.open();
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  root.focus();
});
addEventListener("hashchange", go);
go();
