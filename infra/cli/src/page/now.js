// The line above the field one writes in: what is going on now, and for how long yet.

import { share } from "/timeline.js";
import { seconds, words } from "/words.js";

const TYPING = new Set(["thinking", "sending"]);

export class Now {
  constructor(root, typing, serverNow) {
    this.root = root;
    this.typing = typing;
    this.serverNow = serverNow;
    [this.words, this.count] = root.querySelectorAll("p span");
    this.bar = root.querySelector(".bar > div");
    this.now = { mood: "quiet", word: "idle" };
  }

  show(now) {
    this.now = now;
    this.root.dataset.mood = now.mood;
    this.typing.hidden = !TYPING.has(now.word);
    const text = wordsOf(now);
    // Written only where it changes: a screen reader says it each time.
    if (this.words.textContent !== text) this.words.textContent = text;
    this.paint();
  }

  // Called many times a second.
  tick() {
    if (this.now.until !== undefined || this.now.since !== undefined) this.paint();
  }

  paint() {
    const { at, since, until } = this.now;
    const now = this.serverNow();
    let count = "";
    if (until !== undefined) count = seconds(until - now);
    else if (since !== undefined) count = seconds(now - since);
    this.count.textContent = count;
    this.bar.style.width = until === undefined ? "0" : `${share(now, at, until) * 100}%`;
  }
}

function wordsOf(now) {
  const say = words.now[now.word];
  switch (now.word) {
    case "answered":
      return say(seconds(now.waited));
    case "held":
      return say(words.reasons[now.reason] ?? now.reason);
    case "closed":
      return `${say}: ${words.closed[now.reason] ?? now.reason}.`;
    case "thinking":
      return say(...now.args);
    default:
      return say;
  }
}
