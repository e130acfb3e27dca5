// The timeline: one card per turn, newest first, one line per step, and the bars that count down.

import { duration, element, hourMinuteSecond, number, seconds, words } from "/words.js";

const CARDS_MAX = 40;
const say = words.steps;

// One line's words: what happened, and the detail under it.
function lineOf(row, textOf) {
  switch (row.step) {
    case "received":
      return row.fresh ? [say.received, quote(textOf(row.message))] : [say.repeated];
    case "held":
      return [say.held, words.reasons[row.reason] ?? row.reason];
    case "claimed":
      return [say.claimed(row.messages.length)];
    case "routed":
      return [say.routed(row.model), `${say.points(row.score, row.threshold)}: ${row.why}`];
    case "model_called": {
      const cached = row.cached_tokens ? ` (${say.cached(number(row.cached_tokens))})` : "";
      const tokens = say.tokens(number(row.input_tokens), number(row.output_tokens)) + cached;
      const why = say.why[row.why] ? ` · ${say.why[row.why]}` : "";
      return [say.model(row.model), `${duration(row.took_ms)} · ${tokens}${why}`];
    }
    case "model_failed":
      return [say.failed(row.model), [row.class, row.reason, row.advice].filter(Boolean).join(": ")];
    case "model_incident":
      return [say.incident(row.model), `${row.class}, ${say.since(hourMinuteSecond(row.since))}`];
    case "model_recovered":
      return [say.recovered(row.model), say.since(hourMinuteSecond(row.since))];
    case "tool_called":
      if (row.outcome === "refused") return [say.toolRefused(row.tool), say.toolWrong];
      return [say.tool(row.tool), `${duration(row.took_ms)} · ${row.outcome}`];
    case "handed_off":
      return [say.handedOff, say.until(hourMinuteSecond(row.until))];
    case "limit_reached":
      return [say.limitReached(row.limit), say.until(hourMinuteSecond(row.until))];
    case "booked": {
      const unknown = row.unknown ? say.unknownPrice(row.unknown) : null;
      const known = row.micro_usd ? `US$ ${row.micro_usd / 1e6}` : null;
      return [say.booked, [known, unknown].filter(Boolean).join(" · ") || say.free];
    }
    case "paused":
      return [say.paused, say.until(hourMinuteSecond(row.until))];
    case "resumed":
      return [say.resumed];
    case "superseded":
      return [say.superseded];
    case "committed":
      return [row.kind === "answer" ? say.committed : say[row.kind]];
    case "fenced":
      return [say.fenced];
    case "sent":
      return [say.sent];
    case "send_refused":
      return [row.again ? say.refusedAgain(row.code) : say.refused(row.code)];
    case "send_unknown":
      return [say.unknown];
    case "closed":
      return [say.closed(row.count), words.closed[row.reason] ?? row.reason];
    case "compacted":
      return [say.compacted(row.items, row.facts)];
    case "compaction_refused":
      return [say.compactionRefused, row.reason];
    case "forgotten":
      return [say.forgotten(row.items)];
    default:
      return [row.step];
  }
}

function quote(text) {
  if (!text) return null;
  const letters = [...text];
  return `“${letters.length > 90 ? `${letters.slice(0, 90).join("")}…` : text}”`;
}

export class Timeline {
  constructor(root, empty, textOf, serverNow) {
    this.root = root;
    this.empty = empty;
    this.textOf = textOf;
    this.serverNow = serverNow;
    this.clear();
  }

  clear() {
    this.cards = new Map();
    this.root.replaceChildren();
    this.empty.hidden = false;
    this.waits = new Map();
  }

  show(turn) {
    let card = this.cards.get(turn);
    if (!card) {
      card = element("article", "turn");
      this.cards.set(turn, card);
      this.root.prepend(card);
      this.empty.hidden = true;
      if (this.root.children.length > CARDS_MAX) this.root.lastElementChild.remove();
    }
    card.classList.toggle("open", !turn.done);
    card.classList.toggle("of-memory", turn.memory);
    this.waits.delete(card);
    const list = element("ol", "rows", ...turn.rows.map((row, index) => this.line(turn, row, index, card)));
    card.replaceChildren(this.head(turn), list);
  }

  head(turn) {
    const parts = [];
    const count = turn.messages.length || turn.pending.length;
    if (turn.memory) parts.push(words.turn.memory);
    else if (count) parts.push(words.turn.messages(count));
    if (turn.waited !== undefined) parts.push(words.turn.answered, seconds(turn.waited));
    else if (!turn.done) parts.push(words.turn.open);
    const time = element("time", "", hourMinuteSecond(turn.at));
    return element("h3", "", time, element("span", "gist", parts.join(" · ")));
  }

  line(turn, row, index, card) {
    const [title, detail] = lineOf(row, this.textOf);
    const offset = element("span", "offset", `+${seconds(row.at - turn.at)}`);
    const what = element("span", "what", element("strong", "", title));
    const line = element("li", row.step, offset, what);
    if (detail) what.append(element("span", "detail", detail));
    if (row.step === "held") this.wait(row, what, turn.rows[index + 1], card);
    if (row.step === "received" && !row.fresh) line.classList.add("faint");
    return line;
  }

  // A wait says until when, how often it was made longer, and while it lasts shows a bar.
  wait(row, what, next, card) {
    const until = say.until(hourMinuteSecond(row.until));
    const times = row.times > 1 ? ` · ${say.times(row.times - 1)}` : "";
    const waited = next && Math.min(row.until, next.at) - row.at;
    what.firstChild.textContent = next ? `${say.held} ${seconds(waited)}` : say.holding;
    what.append(element("span", "detail", until + times));
    if (next) return;
    const fill = element("div");
    what.append(element("div", "bar", fill));
    this.waits.set(card, { fill, from: row.at, until: row.until });
  }

  // Moves the bars; called many times a second while something waits.
  tick() {
    const now = this.serverNow();
    for (const { fill, from, until } of this.waits.values()) {
      fill.style.width = `${share(now, from, until) * 100}%`;
    }
    return this.waits.size > 0;
  }
}

// How much of a wait is left, from 1 to 0.
export function share(now, from, until) {
  if (until <= from) return 0;
  return Math.min(1, Math.max(0, (until - now) / (until - from)));
}
