// Whether a receipt of the service fits the log, and bears its signature (docs/proof.md, Receipts).

import { base64url, canonical, encoded, fromBase64url, sha256 } from "./bytes.js";

async function keyOf(keys, kid) {
  for (const { kty, crv, x } of keys) {
    if (kty !== "OKP" || crv !== "Ed25519") continue;
    // By its own thumbprint, never by the name that it claims.
    if (base64url(await sha256(encoded(canonical({ crv, kty, x })))) === kid)
      return { kty, crv, x };
  }
  return null;
}

/** Whether this browser knows Ed25519. */
async function imported(jwk) {
  try {
    return await crypto.subtle.importKey("jwk", jwk, { name: "Ed25519" }, false, ["verify"]);
  } catch (error) {
    if (error.name === "NotSupportedError") return null;
    throw error;
  }
}

/** `{status, detail}` of a receipt beside a log. */
export async function receiptFinding(id, events, receipt, keys) {
  const { signature, ...signed } = receipt;
  const event = events.find(({ version }) => version === receipt.version);
  if (receipt.game !== id) return { status: "failed", detail: "the receipt is for another game" };
  if (!event) return { status: "failed", detail: "the log ends before the receipt’s version" };
  if (event.hash !== receipt.hash || event.at !== receipt.at) {
    return { status: "failed", detail: "the log holds another event there than the receipt says" };
  }
  const jwk = await keyOf(keys, receipt.key);
  if (!jwk) return { status: "failed", detail: "the service has no key of that name" };
  const key = await imported(jwk);
  if (!key)
    return {
      status: "not_yet_possible",
      detail: "this browser cannot check Ed25519 signatures; the hash fits",
    };
  let holds = false;
  try {
    holds = await crypto.subtle.verify(
      "Ed25519",
      key,
      fromBase64url(signature),
      encoded(canonical(signed)),
    );
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  return holds
    ? { status: "passed", detail: "signed by a key that the service publishes" }
    : { status: "failed", detail: "the signature does not hold" };
}
