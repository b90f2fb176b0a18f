// The list of recent submissions. It holds still while somebody is in it.

import { byId, el, empty, put } from "./dom.js";
import { duration, reward, words } from "./format.js";

const HEAD = ["Submission", "Verdict", "Reward", "Tests", "Waited", "Ran", "Engine"];

export class RecentList {
  constructor(open) {
    this.open = open;
    this.latest = [];
    this.shown = null;
    this.box = byId("recent");
    this.box.addEventListener("keydown", (pressed) => this.move(pressed));
    for (const left of ["pointerleave", "focusout"]) {
      this.box.addEventListener(left, () => setTimeout(() => this.draw(this.latest)));
    }
  }

  get isHeld() {
    return this.box.matches(":hover, :focus-within") && this.box.querySelector("tr") !== null;
  }

  draw(recent) {
    this.latest = recent;
    const ids = recent.map((each) => `${each.tenant}/${each.id}/${each.verdict}`).join(" ");
    const isChanged = ids !== this.shown;
    byId("recent-note").textContent = isChanged && this.isHeld ? "held while you are in it" : "";
    if (!isChanged || this.isHeld) return;
    this.shown = ids;
    if (!recent.length) {
      put("recent", empty("Nothing was submitted yet. The first result appears here by itself."), example());
      return;
    }
    put("recent", el("table", { class: "cards" },
      el("caption", { class: "hidden" }, "Recent submissions; arrow keys move, Enter opens"),
      el("thead", {}, el("tr", {}, HEAD.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, recent.map((each) => this.row(each)))));
  }

  row(each) {
    const cell = (at, ...content) => el("td", { "data-name": HEAD[at] }, ...content);
    return el("tr", { onclick: () => this.open(each.tenant, each.id) },
      el("th", { scope: "row" }, el("button", {
        type: "button", class: "link mono", onclick: (clicked) => { clicked.stopPropagation(); this.open(each.tenant, each.id); },
      }, each.id), each.tenant === "default" ? null : el("span", { class: "tenant" }, each.tenant)),
      cell(1, badge(each.status === "canceled" ? "canceled" : each.verdict)),
      cell(2, reward(each.reward)), cell(3, each.verdict ? `${each.passed} of ${each.total}` : "large result"),
      cell(4, duration(each.queued_s)), cell(5, duration(each.run_s)), cell(6, each.engine || "–"));
  }

  move(pressed) {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (!(pressed.key in steps)) return;
    const buttons = [...this.box.querySelectorAll("button")];
    const next = buttons[buttons.indexOf(document.activeElement) + steps[pressed.key]];
    if (next) {
      pressed.preventDefault();
      next.focus();
    }
  }
}

export function badge(verdict) {
  return el("span", { class: `badge verdict-${verdict ?? "unknown"}` }, words(verdict ?? "not read"));
}

function example() {
  const body = '{"language": "python", "code": "print(1)", "tests": [{"stdin": "", "expected_stdout": "1"}]}';
  const address = new URL("v1/submissions?wait=10", document.baseURI).href;
  return el("pre", { tabindex: "0" }, `curl '${address}' -H 'Content-Type: application/json' \\\n  -d '${body}'`);
}
