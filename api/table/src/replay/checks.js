// "Check this game": runs the checks in the page and tells what each of them found.

import { get } from "../api.js";
import { button, el } from "../dom.js";
import { known } from "../keys.js";
import { check } from "../verify/check.js";

const WORDS = { passed: "Passed", failed: "Failed", not_yet_possible: "Not yet possible" };
const SIGNS = { passed: "✓", failed: "✗", not_yet_possible: "…" };

function versions([first, ...more]) {
  const last = more.at(-1);
  return last === undefined || last === first ? `version ${first}` : `versions ${first} to ${last}`;
}

function row({ check: what, status, versions: which, detail }, jump) {
  return el(
    "li",
    { class: `finding ${status}`, "data-check": what, "data-status": status },
    el("span", { class: "sign", "aria-hidden": "true" }, SIGNS[status]),
    el(
      "span",
      { class: "finding-words" },
      el("strong", {}, `${WORDS[status]}: ${what}`),
      " ",
      el("span", {}, `${detail}.`),
    ),
    button(versions(which), () => jump(which[0]), {
      class: "plain",
      "aria-label": `Go to version ${which[0]}`,
    }),
  );
}

function summary(findings) {
  const count = (status) => findings.filter((finding) => finding.status === status).length;
  const failed = count("failed");
  const parts = [
    `${count("passed")} passed`,
    failed ? `${failed} failed` : "none failed",
    `${count("not_yet_possible")} not yet possible`,
  ];
  return `${parts.join(", ")}.`;
}

/** The panel of the checks. `read()` gives the log anew, `jump(version)` goes to a version. */
export function checksPanel(id, credential, read, jump) {
  const report = el("div", { class: "report", role: "status" });
  const run = async () => {
    start.disabled = true;
    report.replaceChildren(el("p", {}, "Checking…"));
    try {
      // The receipt comes first, so that the log cannot end before it.
      const receipt = await get(`/v1/games/${id}/receipt`, { credential });
      const { keys } = await get("/.well-known/jwks.json");
      const kept = known(id).receipt;
      const receipts = [
        { receipt, name: "of the service, now" },
        ...(kept ? [{ receipt: kept, name: "kept in this tab" }] : []),
      ];
      const findings = await check(id, await read(), receipts, keys);
      report.replaceChildren(
        el("p", { class: "summary" }, summary(findings)),
        el(
          "ul",
          { class: "findings plain-list", tabindex: "0", "aria-label": "Findings" },
          findings.map((finding) => row(finding, jump)),
        ),
        el(
          "p",
          { class: "quiet" },
          "Not checked here: whether every action followed from the rules. Save the log and run ",
          el("code", {}, "fairdeal verify"),
          ", which needs no server. Keys that the service itself hands out show that it signed, not who it is.",
        ),
      );
    } catch (problem) {
      report.replaceChildren(el("p", { class: "problem" }, problem.message));
    } finally {
      start.disabled = false;
    }
  };
  const start = button("Check this game", run, { class: "main" });
  const save = button("Save the log", () => download(id, credential));
  return el(
    "section",
    { class: "panel checks" },
    el("h2", {}, "Checks"),
    el(
      "p",
      {},
      "Your browser computes every hash, every sealed card that lies open and every deal again, from the log alone.",
    ),
    el("div", { class: "buttons" }, start, save),
    report,
  );
}

async function download(id, credential) {
  const answer = await fetch(`/v1/games/${id}/export`, {
    headers: { Authorization: `Bearer ${credential}` },
  });
  const url = URL.createObjectURL(await answer.blob());
  el("a", { href: url, download: `fairdeal-${id}.ndjson` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
