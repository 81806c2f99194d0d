// Bytes, hashes and canonical JSON: what docs/log.md builds on. The browser's own cryptography does the
// hashing; it is there on secure origins only (https, and this machine).

const utf8 = new TextEncoder();

/** Whether this browser can hash here. */
export const canHash = () => Boolean(globalThis.crypto?.subtle);

/** RFC 8785. JSON.stringify writes numbers and strings as it asks; members are sorted here. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(",")}}`;
}

export const encoded = (text) => utf8.encode(text);

export const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export function fromHex(text) {
  if (!/^([0-9a-f]{2})*$/.test(text)) throw new TypeError("not hex");
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** Unpadded base64url, exactly as encoding the bytes gives it. Throws TypeError. */
export function fromBase64url(text) {
  if (typeof text !== "string" || !/^[A-Za-z0-9_-]*$/.test(text))
    throw new TypeError("not base64url");
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) =>
    c.charCodeAt(0),
  );
  if (base64url(bytes) !== text) throw new TypeError("not base64url");
  return bytes;
}

export const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/** SHA-256 of byte strings, one after another. */
export async function sha256(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", all));
}
