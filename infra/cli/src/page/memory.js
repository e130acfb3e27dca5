// What the agent remembers of the person: recent turns, facts, the running summary.

import { element, number, words } from "/words.js";

const SOON_MS = 250;

export class Memory {
  constructor(root) {
    this.root = root;
    this.asked = 0;
  }

  refreshSoon(phone) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(phone), SOON_MS);
  }

  async refresh(phone) {
    const mine = ++this.asked;
    let memory = null;
    try {
      const answer = await fetch(`/memory/${phone}`);
      if (answer.ok) memory = await answer.json();
    } catch {
      // Said below.
    }
    if (mine === this.asked) this.show(memory);
  }

  show(memory) {
    if (!memory) {
      this.root.replaceChildren(element("p", "muted", words.noMemory));
      return;
    }
    const recent = memory.recent ?? [];
    const facts = memory.facts ?? [];
    const items = facts.map((fact) => element("li", "", textOf(fact)));
    const parts = [
      element("p", "recent", words.recent(recent.length)),
      element("h3", "", words.facts, facts.length ? element("span", "badge", number(facts.length)) : null),
      facts.length ? element("ul", "facts", ...items) : element("p", "muted", words.noFacts),
      element("h3", "", words.summary),
      element("p", memory.summary ? "summary" : "muted", textOf(memory.summary) || words.noSummary),
    ];
    const isOpen = this.root.querySelector("details")?.open ?? false;
    if (memory.state && Object.keys(memory.state).length) parts.push(stateOf(memory.state, isOpen));
    this.root.replaceChildren(...parts);
  }
}

function textOf(thing) {
  if (thing === null || thing === undefined) return "";
  return typeof thing === "object" ? String(thing.text ?? "") : String(thing);
}

function stateOf(state, isOpen) {
  const rows = Object.entries(state).flatMap(([key, value]) => [
    element("dt", "", key),
    element("dd", "", value !== null && typeof value === "object" ? JSON.stringify(value) : String(value)),
  ]);
  const details = element("details", "", element("summary", "", words.state), element("dl", "", ...rows));
  details.open = isOpen;
  return details;
}
