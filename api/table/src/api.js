// Requests to the API, by its public contract alone, and its problems as errors.

/** An answer that is a problem (RFC 9457), or no answer at all (`status` 0). */
export class Problem extends Error {
  constructor(status, body = {}) {
    super(body.detail ?? body.title ?? "The service does not answer.");
    this.status = status;
    this.rule = body.rule ?? null;
    this.errors = body.errors ?? [];
  }

  /** Whether asking again later may help. */
  get passing() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** A fresh random id; `crypto.randomUUID` is there on secure origins only. */
export function freshId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Ask, with a bearer credential or none; the raw response. Throws Problem. */
export async function ask(
  path,
  { credential = null, method = "GET", body, headers = {}, signal } = {},
) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        ...(credential ? { Authorization: `Bearer ${credential}` } : {}),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
      referrerPolicy: "no-referrer",
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0);
  }
  if (response.ok || response.status === 304) return response;
  throw new Problem(response.status, await response.json().catch(() => ({})));
}

/** Ask for JSON. */
export const get = async (path, options) => (await ask(path, options)).json();

/**
 * Send a command that is safe to repeat: it bears a key of its own, so where no answer comes it is
 * sent again until one does (`tries` times), and acts once. Who gives it a `key` may ask for the same
 * again later.
 */
export async function command(path, credential, body, { tries = 5, key = freshId() } = {}) {
  const headers = { "Idempotency-Key": key };
  for (let left = tries; ; left--) {
    try {
      return await get(path, { method: "POST", credential, body, headers });
    } catch (error) {
      if (!(error instanceof Problem) || !error.passing || left <= 1) throw error;
      await new Promise((done) => setTimeout(done, 400 * 2 ** (tries - left)));
    }
  }
}

/** All pages of the log after a version, as the caller may see it now. */
export async function events(id, credential, after = 0) {
  const found = [];
  for (let next = after; next !== null;) {
    const page = await get(`/v1/games/${id}/events?after=${next}&limit=1000`, { credential });
    found.push(...page.items);
    next = page.next;
  }
  return found;
}
