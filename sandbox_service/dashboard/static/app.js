// The page: what comes from the stream is kept here and drawn from here.

import { lineChart } from "./charts.js";
import { openDetail } from "./detail.js";
import { byId } from "./dom.js";
import { clock, count, duration, rate } from "./format.js";
import { askForKey, authorization, forgetKey, hasKey } from "./key.js";
import { drawLanes, drawRewards, drawTiles, drawTimes, drawVerdicts, drawWorkers } from "./panels.js";
import { RecentList } from "./recent.js";
import { Stream } from "./stream.js";

const SPAN_S = 300;
const STALE_PERIODS = 3;

const page = { samples: [], snapshot: null, span: "latest", receivedAt: 0, connection: "connecting", retryAt: 0, trouble: "" };
const list = new RecentList(openDetail);
const stream = new Stream("v1/events", authorization, { event: onEvent, state: onState });

function onEvent(name, data) {
  page.connection = "live";
  if (name === "past") page.samples = data.samples;
  if (name === "trouble") page.trouble = data.detail;
  if (name === "snapshot") {
    page.trouble = "";
    page.snapshot = data;
    page.receivedAt = Date.now();
    page.samples.push(data.sample);
    page.samples = page.samples.filter((sample) => sample.at > data.at - SPAN_S);
    draw();
  }
  tell();
}

function onState(state, { retryAt = 0, detail = "" }) {
  page.connection = state;
  page.retryAt = retryAt;
  page.detail = detail;
  if (state === "refused") askForKey(detail, () => stream.start());
  tell();
}

function draw() {
  const { snapshot } = page;
  if (!snapshot) return;
  const figures = snapshot[page.span];
  drawTiles(snapshot, figures);
  drawVerdicts(figures);
  drawRewards(figures);
  drawTimes(figures);
  drawLanes(snapshot);
  drawWorkers(snapshot);
  list.draw(snapshot.recent);
  drawCharts();
}

function drawCharts() {
  if (!page.snapshot) return;
  const options = { span: SPAN_S, gap: STALE_PERIODS * page.snapshot.period_s };
  const lanes = page.snapshot.lanes.map(({ name }) => ({
    name, points: page.samples.map((sample) => [sample.at, sample.depths[name] ?? null]),
  }));
  lineChart(byId("depth"), lanes, { ...options, write: count, label: "Submissions waiting" });
  const results = { name: "results/s", points: page.samples.map((sample) => [sample.at, sample.results_per_s]) };
  lineChart(byId("rate"), [results], { ...options, write: rate, label: "Results per second" });
}

// What is shown is never older than it says.
function tell() {
  const age = (Date.now() - page.receivedAt) / 1000;
  const isOld = page.snapshot && age > STALE_PERIODS * page.snapshot.period_s;
  const seen = page.snapshot ? `figures of ${clock(page.snapshot.at)}` : "no figures yet";
  const left = Math.max(0, Math.ceil((page.retryAt - Date.now()) / 1000));
  const [state, text] = {
    connecting: ["connecting", "Connecting…"],
    refused: ["disconnected", "A key is needed"],
    disconnected: ["disconnected", `Disconnected, next try in ${left} s`],
    live: page.trouble || isOld ? ["stale", `Stale: ${seen}`] : ["live", `Live, ${seen}`],
  }[page.connection];
  set("connection", text, state);
  byId("reconnect").hidden = page.connection !== "disconnected";
  byId("forget-key").hidden = !hasKey();
  document.body.classList.toggle("old", state !== "live" && page.snapshot !== null);
  banner(state, age, seen);
  document.title = state === "live" ? `${count(waiting())} waiting · sandbox-service` : `${state} · sandbox-service`;
}

function banner(state, age, seen) {
  let text = "";
  if (page.connection === "disconnected") text = `No connection: ${page.detail}. Shown are ${seen}.`;
  else if (page.trouble) text = `${page.trouble}. Shown are ${seen}.`;
  else if (state === "stale") text = `No news for ${duration(age)}. Shown are ${seen}.`;
  else if (page.snapshot && page.snapshot.worker_count === 0) text = `No worker is alive; ${count(waiting())} submissions wait.`;
  const box = byId("banner");
  box.hidden = !text;
  if (box.textContent !== text) box.textContent = text;
}

function waiting() {
  return page.snapshot?.lanes.reduce((sum, lane) => sum + lane.depth, 0) ?? null;
}

function set(id, text, state) {
  const node = byId(id);
  if (node.textContent !== text) node.textContent = text;
  node.dataset.state = state;
}

function choose(span) {
  page.span = span;
  for (const button of document.querySelectorAll("[data-span]")) button.setAttribute("aria-pressed", String(button.dataset.span === span));
  for (const name of document.querySelectorAll("[data-span-name]")) name.textContent = span === "latest" ? "last 5 minutes" : "all time";
  draw();
}

for (const button of document.querySelectorAll("[data-span]")) button.addEventListener("click", () => choose(button.dataset.span));
byId("reconnect").addEventListener("click", () => stream.start());
byId("forget-key").addEventListener("click", () => { forgetKey(); stream.start(); });
byId("find").addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  const [id, tenant = "default"] = submitted.target.elements.id.value.trim().split("/").reverse();
  openDetail(tenant, id);
});
new ResizeObserver(drawCharts).observe(byId("depth"));
choose("latest");
setInterval(tell, 1000);
stream.start();
