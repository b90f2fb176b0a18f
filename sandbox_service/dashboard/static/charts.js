// Line charts over time, drawn as SVG.

import { el, empty, svg } from "./dom.js";
import { clock } from "./format.js";

const HEIGHT = 150;
const LEFT = 44;
const RIGHT = 10;
const TOP = 8;
const BOTTOM = 20;
const STEPS = [2, 4, 6, 8, 10]; // half of them is a whole number, too

export function niceTop(value) {
  if (value <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(value));
  return STEPS.map((step) => step * power).find((top) => top >= value);
}

// series: [{ name, points: [[time, value or null]] }], oldest first
export function lineChart(box, series, { span, gap, write, label }) {
  const points = series.flatMap((each) => each.points.filter(([, value]) => value !== null));
  if (points.length < 2) {
    box.replaceChildren(empty("Drawn as soon as there are two readings."));
    return;
  }
  const scale = makeScale(box, points, span);
  const summary = series.map((each) => `${each.name}: now ${write(lastOf(each))}`).join(", ");
  const picture = svg("svg", {
    viewBox: `0 0 ${scale.width} ${HEIGHT}`, role: "img", "aria-label": `${label}. ${summary}`,
  }, axes(scale, write), series.map((each, at) => drawn(each, at, scale, gap, series.length === 1)));
  const legend = el("p", { class: "legend", "aria-hidden": "true" });
  const tell = (time) => legend.replaceChildren(...legendOf(series, time, scale.to, write));
  tell(null);
  follow(picture, scale, tell);
  box.replaceChildren(picture, legend);
}

function lastOf({ points }) {
  return points.length ? points[points.length - 1][1] : null;
}

function makeScale(box, points, span) {
  const width = Math.max(240, box.clientWidth);
  const to = points.reduce((latest, [time]) => Math.max(latest, time), 0);
  const top = niceTop(points.reduce((most, [, value]) => Math.max(most, value), 0));
  const bottom = HEIGHT - BOTTOM;
  return {
    width, to, top, bottom, span,
    x: (time) => LEFT + (width - LEFT - RIGHT) * (1 - (to - time) / span),
    y: (value) => bottom - (bottom - TOP) * (value / top),
    time: (x) => to - span * (1 - (x - LEFT) / (width - LEFT - RIGHT)),
  };
}

function axes(scale, write) {
  const lines = [0, 0.5, 1].map((part) => {
    const y = scale.y(part * scale.top);
    return svg("g", {},
      svg("line", { class: "grid", x1: LEFT, x2: scale.width - RIGHT, y1: y, y2: y }),
      svg("text", { class: "tick", x: LEFT - 6, y: y + 4, "text-anchor": "end" }, write(part * scale.top)),
    );
  });
  const minutes = Math.round(scale.span / 60);
  const times = Array.from({ length: minutes + 1 }, (_, ago) => svg("text", {
    class: "tick", x: scale.x(scale.to - ago * 60), y: HEIGHT - 4,
    "text-anchor": ago === 0 ? "end" : "middle",
  }, ago === 0 ? "now" : `−${ago} min`));
  return [...lines, ...times];
}

function drawn({ points }, at, scale, gap, isAlone) {
  return svg("g", { class: `line line-${at % 5}` }, pieces(points, gap).map((piece) => {
    const path = piece.map(([time, value]) => `${scale.x(time).toFixed(1)},${scale.y(value).toFixed(1)}`);
    const [first] = path[0].split(",");
    const [last] = path[path.length - 1].split(",");
    return [
      isAlone ? svg("polygon", { class: "area", points: `${first},${scale.bottom} ${path.join(" ")} ${last},${scale.bottom}` }) : null,
      svg("polyline", { points: path.join(" ") }),
    ];
  }));
}

// A line is broken where nothing is known, and never drawn across it.
export function pieces(points, gap) {
  const found = [];
  let piece = [];
  let before = null;
  for (const point of points) {
    if (piece.length && (point[1] === null || point[0] - before > gap)) {
      found.push(piece);
      piece = [];
    }
    if (point[1] !== null) {
      piece.push(point);
      [before] = point;
    }
  }
  return piece.length ? [...found, piece] : found;
}

function legendOf(series, time, to, write) {
  const nearest = (points) => points.reduce(
    (best, point) => (Math.abs(point[0] - time) < Math.abs(best[0] - time) ? point : best), points[0]);
  const parts = series.filter((each) => each.points.length).map((each, at) => {
    const value = time === null ? lastOf(each) : nearest(each.points)[1];
    return el("span", { class: `key key-${at % 5}` }, `${each.name} ${write(value)}`);
  });
  return [el("span", { class: "when" }, clock(time ?? to)), ...parts];
}

function follow(picture, scale, tell) {
  const cross = svg("line", { class: "cross", y1: TOP, y2: scale.bottom, visibility: "hidden" });
  picture.append(cross);
  picture.addEventListener("pointermove", (moved) => {
    const frame = picture.getBoundingClientRect();
    const x = (moved.clientX - frame.left) * (scale.width / frame.width);
    const time = Math.min(scale.to, Math.max(scale.to - scale.span, scale.time(x)));
    cross.setAttribute("x1", scale.x(time));
    cross.setAttribute("x2", scale.x(time));
    cross.setAttribute("visibility", "visible");
    tell(time);
  });
  picture.addEventListener("pointerleave", () => {
    cross.setAttribute("visibility", "hidden");
    tell(null);
  });
}
