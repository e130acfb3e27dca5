// Puts the steps of a conversation together into turns (messages in, one answer out) and says what is going on now.
// No DOM here: steps in, plain objects out.

const ENDS = new Set(["sent", "send_unknown", "closed", "forgotten"]);
const MEMORY = new Set(["compacted", "compaction_refused"]);

export class Turns {
  constructor() {
    this.all = [];
  }

  // Takes one step in; gives the turn it belongs to.
  add(step) {
    const turn = this.turnOf(step);
    const row = turn.rows.at(-1);
    const before = turn.rows.findLast((it) => it.step === "held");
    if (step.step === "held" && before?.reason === step.reason && this.isOneWait(turn, before)) {
      // A wait that is only made longer stays one line.
      turn.rows = turn.rows.filter((it) => it !== before);
      turn.rows.push({ ...step, times: (before.times ?? 1) + 1 });
    } else if (!(step.step === "claimed" && row?.step === "claimed" && row.reply === step.reply)) {
      turn.rows.push(step);
    }
    this.account(turn, step);
    return turn;
  }

  isOneWait(turn, held) {
    return turn.rows.slice(turn.rows.indexOf(held) + 1).every((it) => it.step === "received");
  }

  turnOf(step) {
    const last = this.all.at(-1);
    if (MEMORY.has(step.step) || step.purpose === "compaction") {
      return last?.memory && !last.done ? last : this.begin(step, true);
    }
    const own = step.reply && this.all.findLast((turn) => turn.reply === step.reply);
    if (own) return own;
    const open = this.all.findLast((turn) => !turn.memory && !turn.done);
    if (!open) return this.begin(step, false);
    return step.step === "received" && open.committed ? this.begin(step, false) : open;
  }

  begin(step, memory) {
    const turn = { at: step.at, memory, rows: [], messages: [], agent: step.agent, done: false };
    this.all.push(turn);
    return turn;
  }

  account(turn, step) {
    if (step.step === "received" && step.fresh) {
      turn.lastMessageAt = step.at;
      turn.received = (turn.received ?? 0) + 1;
    }
    if (step.step === "claimed") {
      turn.reply = step.reply;
      turn.messages = step.messages;
    }
    if (step.step === "superseded" || step.step === "fenced") turn.reply = null;
    if (step.step === "committed") {
      turn.reply = step.reply;
      turn.committed = true;
      turn.messages = step.messages;
    }
    if (step.step === "sent") turn.waited = step.at - (turn.lastMessageAt ?? turn.at);
    const isOver = ENDS.has(step.step) || MEMORY.has(step.step) || (step.step === "send_refused" && !step.again);
    if (isOver) {
      turn.done = true;
      turn.endedAt = step.at;
    }
  }

  // What is going on: a mood, its words' arguments, and for a wait its two ends.
  now() {
    const turn = this.all.findLast((it) => !it.memory);
    if (!turn) return { mood: "quiet", word: "idle" };
    const row = turn.rows.at(-1);
    switch (row.step) {
      case "held":
        return heldNow(row);
      case "claimed":
        return { mood: "busy", word: "thinking", args: [row.messages.length], since: row.at };
      case "model_called":
        return { mood: "busy", word: "thinking", args: [turn.messages.length], since: row.at - row.took_ms };
      case "model_failed":
        return { mood: "trouble", word: "failed" };
      case "superseded":
        return { mood: "busy", word: "superseded" };
      case "committed":
        return { mood: "busy", word: "sending", since: row.at };
      case "sent":
        return { mood: "good", word: "answered", waited: turn.waited };
      case "send_refused":
        return { mood: "trouble", word: "refused" };
      case "send_unknown":
        return { mood: "trouble", word: "unknown" };
      case "closed":
        return { mood: "quiet", word: "closed", reason: row.reason };
      case "forgotten":
        return { mood: "quiet", word: "forgotten" };
      default:
        return { mood: "wait", word: "received", since: row.at };
    }
  }
}

function heldNow(row) {
  const wait = { at: row.at, until: row.until };
  if (row.reason === "window") return { mood: "wait", word: "window", ...wait };
  if (row.reason === "superseded") return { mood: "wait", word: "superseded", ...wait };
  const mood = row.reason === "backoff" ? "trouble" : "wait";
  return { mood, word: "held", reason: row.reason, ...wait };
}
