// The host's key and the tokens of seats. They live in this tab alone (sessionStorage), travel only in
// the Authorization header, and leave the address bar as soon as they have come in by it.

const HOST = "fairdeal.host";
const gameKey = (id) => `fairdeal.game.${id}`;

/** What this tab knows of a game: `{token, seats: [{seat, name, token}], spectator, receipt}`. */
export function known(id) {
  try {
    return JSON.parse(sessionStorage.getItem(gameKey(id))) ?? {};
  } catch {
    return {};
  }
}

/** Add to what this tab knows of a game. */
export function remember(id, more) {
  sessionStorage.setItem(gameKey(id), JSON.stringify({ ...known(id), ...more }));
}

export const hostKey = () => sessionStorage.getItem(HOST);

export function setHostKey(key) {
  if (key) sessionStorage.setItem(HOST, key);
  else sessionStorage.removeItem(HOST);
}

/** With what to ask about a game: the seat's or spectator's token, else the host's key. */
export const credential = (id) => known(id).token ?? hostKey();

/** The games of which this tab holds a token. */
export function heldGames() {
  return Object.keys(sessionStorage)
    .filter((key) => key.startsWith("fairdeal.game."))
    .map((key) => key.slice("fairdeal.game.".length))
    .filter((id) => known(id).token);
}

/** The link that gives a seat (or a view of the game) to whoever opens it. */
export function invitation(id, token) {
  const fragment = new URLSearchParams({ game: id, token });
  return `${location.origin}${location.pathname}#${fragment}`;
}

/**
 * Where the fragment leads, once secrets in it have been put away and taken out of the address bar
 * and of the history.
 */
export function takeFragment() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const [key, token] = [wanted.get("key"), wanted.get("token")];
  if (key !== null || token !== null || wanted.has("links")) {
    const links = wanted.get("links");
    ["key", "token", "links"].forEach((name) => wanted.delete(name));
    const rest = wanted.toString();
    history.replaceState(null, "", location.pathname + (rest ? `#${rest}` : ""));
    if (key) setHostKey(key);
    if (token && wanted.get("game")) remember(wanted.get("game"), { token });
    if (links) wanted.set("links", links);
  }
  return wanted;
}
