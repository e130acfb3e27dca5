// The chat: bubbles of both sides with their ticks. A bubble is kept and changed, never made anew, so that nothing
// jumps and a screen reader hears each message once.

import { dayOf, element, hourMinute, words } from "/words.js";

const order = ["sending", "planned", "waiting", "sent", "delivered", "read"];
const SVG = "http://www.w3.org/2000/svg";
const paths = {
  clock: "M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2M8 4.8V8.2l2.2 1.4",
  one: "M3 8.5l3.2 3.2L13 4.7",
  two: "M1 8.5l3.2 3.2L11 4.7M7.5 11l.8.7L15 4.7",
};

function ticks(status) {
  const kind = { sending: "clock", waiting: "one", sent: "one" }[status] ?? "two";
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", words.ticks[status]);
  svg.setAttribute("class", `ticks ${status}`);
  path.setAttribute("d", paths[kind]);
  svg.append(path);
  return svg;
}

export class Chat {
  constructor(list, scroll, onRetry) {
    this.list = list;
    this.scroll = scroll;
    this.onRetry = onRetry;
    this.leaving = [];
    this.isAtEnd = true;
    scroll.addEventListener("scroll", () => {
      this.isAtEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 60;
    });
    new ResizeObserver(() => this.settle()).observe(scroll);
    new ResizeObserver(() => this.settle()).observe(list);
    this.clear();
  }

  clear() {
    this.leaving = [];
    this.forget();
  }

  // Everything but what has not left yet.
  forget() {
    this.list.replaceChildren();
    this.bubbles = new Map();
    this.readIds = new Set();
    this.answers = new Map();
    this.lastDay = null;
    this.lastSide = null;
  }

  get isEmpty() {
    return this.bubbles.size === 0 && this.leaving.length === 0;
  }

  text(id) {
    return this.bubbles.get(id)?.message.text;
  }

  // A text that has just been typed: shown before anyone knows of it.
  leave(text) {
    const bubble = this.add({ text, side: "person", status: "sending", at: Date.now() });
    this.leaving.push(bubble);
    return bubble;
  }

  // What has not left yet stands below what was fetched.
  leavingLast() {
    this.list.append(...this.leaving.map((bubble) => bubble.item));
  }

  // The phone has it: from now on it goes by its id.
  adopt(bubble, id) {
    if (!this.leaving.includes(bubble)) return;
    this.leaving = this.leaving.filter((other) => other !== bubble);
    const known = this.bubbles.get(id);
    if (known && known !== bubble) {
      bubble.item.remove();
      return;
    }
    bubble.message.id = id;
    this.bubbles.set(id, bubble);
    this.advance(bubble, "waiting");
  }

  fail(bubble) {
    bubble.failed = true;
    this.paint(bubble);
  }

  // A message as the phone tells it, new or further along.
  put(message) {
    if (message.status === "planned") return;
    let bubble = this.bubbles.get(message.id);
    if (!bubble && message.side === "person") {
      bubble = this.leaving.find((other) => other.message.text === message.text && !other.failed);
      if (bubble) this.adopt(bubble, message.id);
    }
    if (!bubble) {
      bubble = this.add(message);
      this.bubbles.set(message.id, bubble);
    }
    bubble.message = { ...message, status: bubble.message.status };
    this.advance(bubble, message.status);
  }

  // The agent has taken these messages into its hands: that is when a person's message is read.
  read(ids) {
    for (const id of ids) {
      this.readIds.add(id);
      const bubble = this.bubbles.get(id);
      if (bubble) this.advance(bubble, "read");
    }
  }

  // Which messages a reply answers.
  tie(reply, ids) {
    this.answers.set(reply, ids);
    for (const bubble of this.bubbles.values()) {
      if (bubble.message.reply === reply) this.paint(bubble);
    }
  }

  advance(bubble, status) {
    const reached = this.readIds.has(bubble.message.id) ? "read" : status;
    if (order.indexOf(reached) > order.indexOf(bubble.message.status)) bubble.message.status = reached;
    this.paint(bubble);
  }

  add(message) {
    const day = dayOf(message.at);
    if (day !== this.lastDay) {
      this.list.append(element("li", "day", element("span", "", day)));
      this.lastDay = day;
      this.lastSide = null;
    }
    const item = element("li", `bubble ${message.side}${message.side === this.lastSide ? " follows" : ""}`);
    this.lastSide = message.side;
    const bubble = { item, message: { ...message } };
    const sender = element("span", "unseen", message.side === "person" ? `${words.you}: ` : `${words.agent}: `);
    bubble.note = element("div", "note");
    bubble.meta = element("span", "meta");
    item.append(sender, element("span", "text", message.text), bubble.meta, bubble.note);
    this.list.append(item);
    this.paint(bubble);
    if (message.status === "sending") this.toEnd();
    return bubble;
  }

  paint(bubble) {
    const { message, meta, note } = bubble;
    const time = element("time", "", hourMinute(message.at));
    time.dateTime = new Date(message.at).toISOString();
    meta.replaceChildren(time, ticks(message.status === "planned" ? "sending" : message.status));
    note.replaceChildren();
    if (bubble.failed) note.append(this.retry(bubble));
    else if (message.problem && message.status === "waiting") note.append(words.retrying(message.problem));
    else if (this.answers.has(message.reply)) note.append(this.ties(this.answers.get(message.reply)));
  }

  retry(bubble) {
    const button = element("button", "quiet", words.again);
    button.type = "button";
    button.addEventListener("click", () => {
      bubble.failed = false;
      this.paint(bubble);
      this.onRetry(bubble);
    });
    return element("span", "warn", `${words.notSent} `, button);
  }

  // Shows which bubbles an answer belongs to.
  ties(ids) {
    const button = element("button", "ties", words.ties(ids.length));
    button.type = "button";
    const show = (on) => ids.forEach((id) => this.bubbles.get(id)?.item.classList.toggle("tied", on));
    for (const [event, on] of [["pointerenter", true], ["pointerleave", false], ["focus", true], ["blur", false]]) {
      button.addEventListener(event, () => show(on));
    }
    return button;
  }

  // Stays at the newest message where that is what was being looked at.
  settle() {
    if (this.isAtEnd) this.toEnd();
  }

  toEnd() {
    this.isAtEnd = true;
    this.scroll.scrollTop = this.scroll.scrollHeight;
  }
}
