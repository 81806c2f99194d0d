// How someone likes the table: kept in this browser, nothing of a game in it.

const KEY = "fairdeal.settings";

/** `suits`: as the game has them ("own"), "french" or "german"; `pace`: "calm", "quick", "at once". */
const DEFAULTS = { suits: "own", colours: "two", pace: "calm" };

export const CHOICES = {
  suits: [
    ["own", "As the game has them"],
    ["french", "French suits"],
    ["german", "German suits"],
  ],
  colours: [
    ["two", "Two colours"],
    ["four", "Four colours"],
  ],
  pace: [
    ["calm", "Calm"],
    ["quick", "Quick"],
    ["at once", "At once"],
  ],
};

export const LABELS = { suits: "Cards", colours: "Colours of suits", pace: "How fast others play" };

const stored = () => {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
};

const allowed = ([name, value]) => CHOICES[name]?.some(([choice]) => choice === value);

let current = { ...DEFAULTS, ...Object.fromEntries(Object.entries(stored()).filter(allowed)) };

/** The setting of a name. */
export const setting = (name) => current[name];

/** Change a setting; whoever listens for `settings` on the window draws again. */
export function set(name, value) {
  current = { ...current, [name]: value };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // A browser that keeps nothing still plays; the setting lasts as long as the page.
  }
  dispatchEvent(new Event("settings"));
}
