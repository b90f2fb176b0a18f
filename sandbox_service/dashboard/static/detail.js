// One submission opened: its tests, and what they printed, as text.

import { byId, el, empty } from "./dom.js";
import { bytes, duration, reward, words } from "./format.js";
import { authorization } from "./key.js";
import { fact } from "./panels.js";
import { badge } from "./recent.js";
import { problemText } from "./stream.js";

const LONGEST_TEXT = 64 * 1024;
const MOST_TESTS = 200;

export async function openDetail(tenant, id) {
  const dialog = byId("detail");
  const title = tenant === "default" ? id : `${tenant}/${id}`;
  byId("detail-title").textContent = title;
  show(empty("Reading…"));
  if (!dialog.open) dialog.showModal();
  byId("detail-title").focus();
  try {
    const response = await fetch(`v1/recent/${encodeURIComponent(tenant)}/${encodeURIComponent(id)}`, { headers: authorization(), cache: "no-store" });
    if (byId("detail-title").textContent !== title) return; // another one was opened meanwhile
    if (!response.ok) throw new Error(await problemText(response));
    const state = await response.json();
    if (state.result) show(...result(state.result));
    else show(empty(`It is ${state.status} and has no result yet.`));
  } catch (error) {
    show(empty(error instanceof TypeError ? "The service does not answer." : error.message));
  }
}

function show(...content) {
  byId("detail-body").replaceChildren(...content);
}

function result(found) {
  const { timing, sandbox } = found;
  return [
    el("p", {}, badge(found.status === "canceled" ? "canceled" : found.verdict), " ", found.detail),
    el("dl", { class: "facts" },
      fact("Reward", reward(found.reward)), fact("Score", reward(found.score)),
      fact("Passed", `${found.passed} of ${found.total}`), fact("Trust", words(found.trust)),
      fact("Waited", duration(timing.queued_s)), fact("Ran", duration(timing.run_s)),
      sandbox ? fact("Sandbox", [sandbox.engine, sandbox.runtime, sandbox.isolation].filter(Boolean).join(" · ")) : null),
    (found.flags ?? []).length ? el("ul", {}, found.flags.map((flag) => el("li", {}, words(flag.kind), ": ", flag.detail ?? ""))) : null,
    found.compile ? step("Compile", found.compile, found.compile.verdict !== "accepted") : null,
    ...found.tests.slice(0, MOST_TESTS).map((test, at) => step(
      test.name ? `Test ${at + 1}: ${test.name}` : `Test ${at + 1}`, test,
      found.tests.length === 1 || (test.verdict !== "accepted" && test.verdict !== "skipped"))),
    found.tests.length > MOST_TESTS ? el("p", { class: "note" }, `and ${found.tests.length - MOST_TESTS} more tests`) : null,
    found.tests.length ? null : empty("No test was run."),
  ].filter(Boolean);
}

function step(title, run, isOpen) {
  const { usage } = run;
  const how = run.signal === null ? run.exit_code === null ? null : `exit code ${run.exit_code}` : `signal ${run.signal}`;
  const used = [how, `CPU ${duration(usage.cpu_time_s)}`, `clock ${duration(usage.wall_time_s)}`, bytes(usage.memory_bytes)];
  return el("details", { open: isOpen },
    el("summary", {}, el("span", {}, title), " ", badge(run.verdict)),
    el("p", { class: "note" }, used.filter(Boolean).join(" · ")),
    run.detail ? el("p", {}, run.detail) : null,
    (run.checks ?? []).length ? el("ul", {}, run.checks.map((check) => el("li", {},
      `${check.passed ? "passed" : "failed"}: ${check.name} ${check.detail}`))) : null,
    output("stdout", run.stdout), output("stderr", run.stderr));
}

function output(name, text) {
  if (!text) return el("p", { class: "note" }, `${name}: nothing`);
  const cut = text.length > LONGEST_TEXT;
  return el("figure", {}, el("figcaption", {}, cut ? `${name}, the first ${LONGEST_TEXT / 1024} KiB of ${bytes(text.length)}` : name),
    el("pre", { tabindex: "0" }, cut ? text.slice(0, LONGEST_TEXT) : text));
}
