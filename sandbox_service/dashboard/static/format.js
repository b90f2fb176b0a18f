// Numbers and times as people read them.

export const NOTHING = "–";
const BEYOND_S = 120; // the last bound of the histograms

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export function count(value) {
  return value === null || value === undefined ? NOTHING : whole.format(value);
}

export function rate(value) {
  return value === null || value === undefined ? NOTHING : short.format(value);
}

export function share(value) {
  if (value === null || value === undefined) return NOTHING;
  if (value > 0 && value < 0.001) return "< 0.1 %";
  return `${short.format(value * 100)} %`;
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return NOTHING;
  if (seconds < 0.001) return "< 1 ms";
  if (seconds < 1) return `${short.format(seconds * 1000)} ms`;
  if (seconds < 120) return `${short.format(seconds)} s`;
  if (seconds < 7200) return `${whole.format(seconds / 60)} min`;
  return `${whole.format(seconds / 3600)} h`;
}

export function estimate(seconds) {
  return seconds >= BEYOND_S ? `≥ ${BEYOND_S} s` : duration(seconds);
}

export function bytes(value) {
  if (!value) return NOTHING;
  const mib = value / (1024 * 1024);
  return mib >= 1 ? `${short.format(mib)} MiB` : `${short.format(value / 1024)} KiB`;
}

export function reward(value) {
  return value === null || value === undefined ? "none" : short.format(value);
}

export function words(name) {
  return String(name ?? NOTHING).replaceAll("_", " ");
}

export function clock(secondsSince1970) {
  return new Date(secondsSince1970 * 1000).toLocaleTimeString();
}
