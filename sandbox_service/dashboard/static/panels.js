// The cards of the page, each drawn anew from a snapshot.

import { el, empty, put, table } from "./dom.js";
import { count, duration, estimate, rate, reward, share, words } from "./format.js";

export function drawTiles(snapshot, figures) {
  const waiting = snapshot.lanes.reduce((sum, lane) => sum + lane.depth, 0);
  const running = snapshot.lanes.reduce((sum, lane) => sum + lane.started, 0);
  const oldest = snapshot.lanes.reduce((most, lane) => Math.max(most, lane.oldest_s), 0);
  const troubled = snapshot.workers.filter((worker) => worker.trouble).length;
  const broken = figures.internal_error_share;
  put("tiles",
    tile("Waiting", count(waiting), `${count(running)} running`),
    tile("Oldest waiting", duration(waiting ? oldest : null), waiting ? "in the queue" : "nothing waits"),
    tile("Throughput", rate(snapshot.sample.results_per_s), "results a second"),
    tile("Wait, median", estimate(figures.wait.p50_s), within(figures.wait)),
    tile("Run, median", estimate(figures.run.p50_s), within(figures.run)),
    tile("Internal errors", share(broken), `${count(figures.verdicts.internal_error ?? 0)} of ${count(figures.finished)}`,
      broken > 0.01 ? "bad" : broken > 0 ? "warn" : ""),
    tile("Workers", count(snapshot.worker_count),
      troubled ? `${count(troubled)} in trouble` : `${count(running)} busy`,
      snapshot.worker_count === 0 ? "bad" : troubled ? "warn" : ""),
  );
}

function within({ p99_s: most }) {
  return most === null ? "no results" : `99 %: ${estimate(most)}`;
}

function tile(name, value, note, mood = "") {
  return el("div", { class: `tile ${mood}` },
    el("span", { class: "name" }, name), el("strong", {}, value), el("span", { class: "note" }, note));
}

export function drawVerdicts(figures) {
  const rows = Object.entries(figures.verdicts).sort(([, one], [, other]) => other - one);
  if (!rows.length) {
    put("verdicts", empty("No results in this time."));
    return;
  }
  const most = rows[0][1];
  put("verdicts", ...rows.map(([name, number]) => {
    const bar = el("span", { class: `bar verdict-${name}` });
    bar.style.inlineSize = `${(100 * number) / most}%`;
    return el("div", { class: "bar-row" },
      el("span", { class: "bar-name" }, words(name)), el("span", { class: "bar-track" }, bar),
      el("span", { class: "bar-count" }, `${count(number)} · ${share(number / figures.finished)}`));
  }));
}

export function drawRewards(figures) {
  const given = figures.rewards.reduce((sum, bar) => sum + bar.count, 0);
  const none = figures.finished - given;
  if (given + none <= 0) {
    put("rewards", empty("No rewards in this time."));
    return;
  }
  const columns = [...figures.rewards.map((bar) => [rangeOf(bar), bar.count, ""]), ["none", Math.max(0, none), "none"]];
  const most = Math.max(...columns.map(([, number]) => number));
  put("rewards", el("div", { class: "columns", role: "list" }, columns.map(([name, number, kind]) => {
    const bar = el("span", { class: `column ${kind}` });
    bar.style.blockSize = `${(100 * number) / most}%`;
    return el("div", { class: "column-box", role: "listitem", title: `${name}: ${number}` },
      el("span", { class: "column-count" }, number ? count(number) : ""),
      el("span", { class: "column-track" }, bar), el("span", { class: "column-name" }, name));
  })), el("p", { class: "note" }, "“none” is no information, because we failed. It is never a zero."));
}

function rangeOf({ above, upto }) {
  return upto === null ? `> ${above}` : `≤ ${upto}`;
}

export function drawTimes(figures) {
  const row = (name, times) => el("tr", {}, el("th", { scope: "row" }, name),
    [times.p50_s, times.p90_s, times.p99_s].map((value) => el("td", {}, estimate(value))));
  put("times", table("Percentiles of wait and run time", ["", "half", "90 %", "99 %"],
    [row("Wait", figures.wait), row("Run", figures.run)]),
  el("dl", { class: "facts" },
    fact("Accepted", count(figures.accepted)), fact("Finished", count(figures.finished)),
    fact("Canceled", count(figures.canceled)), fact("Reused", count(figures.reused)),
    fact("Retried", count(figures.retried))));
}

export function fact(name, value) {
  return el("div", {}, el("dt", {}, name), el("dd", {}, value));
}

export function drawLanes({ lanes }) {
  put("lanes", table("Queues", ["Lane", "Waiting", "Running", "Oldest"], lanes.map((lane) => el("tr", {},
    el("th", { scope: "row" }, lane.name), el("td", {}, count(lane.depth)),
    el("td", {}, count(lane.started)), el("td", {}, duration(lane.depth ? lane.oldest_s : null))))));
}

function runsFor(tenant) {
  return tenant === "default" ? "busy" : `busy for ${tenant}`;
}

export function drawWorkers({ workers, worker_count: number }) {
  if (!number) {
    put("workers", empty("No worker is alive. What is accepted waits until one is: sandbox-service worker"));
    return;
  }
  const rows = workers.map((worker) => el("tr", { class: worker.trouble ? "warn" : "" },
    el("th", { scope: "row", class: "mono" }, worker.name),
    el("td", {}, worker.trouble || (worker.runs_for ? runsFor(worker.runs_for) : "idle")),
    el("td", {}, count(worker.sandboxes)),
    el("td", {}, `renews within ${duration(Math.max(0, worker.lease_s))}`)));
  put("workers", el("div", { class: "scroll" }, table("Workers alive", ["Name", "State", "Sandboxes", "Sign of life"], rows)),
    number > workers.length ? el("p", { class: "note" }, `and ${count(number - workers.length)} more`) : null);
}
