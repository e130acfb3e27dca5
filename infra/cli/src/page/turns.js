// Puts the steps of a conversation together into turns (messages in, one answer out) and says what is going on now.
// No DOM here: steps in, plain objects out.

const ENDS = new Set(["sent", "send_unknown", "closed", "forgotten"]);
const MEMORY = new Set(["compacted", "compaction_refused"]);

export class Turns {
  // The agent's window and ceiling in milliseconds: the first look at a conversation comes at the end of the window,
  // so until then the wait is known from the messages alone.
  constructor(pace) {
    this.all = [];
    this.arrivals = new Map();
    this.pace = pace;
  }

  // Takes one step in; gives the turn it belongs to.
  add(step) {
    const turn = this.turnOf(step);
    this.account(turn, step);
    if (step.step === "held" && step.reason === "window") this.wait(turn, step);
    else turn.rows.push(step);
    if (step.step === "received" && step.fresh) this.waitFrom(turn, step);
    return turn;
  }

  // A message begins the wait or makes it longer, unless a pause of another kind is under way.
  waitFrom(turn, { at, seq }) {
    const before = turn.rows.findLast((row) => row.step !== "received");
    const isPaused = before?.step === "held" && before.reason !== "window";
    if (!this.pace || isPaused) return;
    const until = Math.min(at + this.pace.window, turn.pending[0] + this.pace.ceiling);
    this.wait(turn, { step: "held", reason: "window", at, until, seq, restarts: true });
  }

  // One wait stays one line, however often it is made longer.
  wait(turn, held) {
    const before = turn.rows.findLast((row) => row.step === "held");
    const isSame = before?.reason === "window" && rowsAfter(turn, before).every((row) => row.step === "received");
    if (!isSame) {
      turn.rows.push({ ...held, times: 1 });
      return;
    }
    turn.rows = turn.rows.filter((row) => row !== before);
    const at = held.restarts ? held.at : before.at;
    turn.rows.push({ ...held, at, times: before.times + (held.restarts ? 1 : 0) });
  }

  turnOf(step) {
    const last = this.all.at(-1);
    if (MEMORY.has(step.step) || step.purpose === "compaction") {
      return last?.memory && !last.done ? last : this.begin(step, true);
    }
    const own = step.reply && this.all.findLast((turn) => turn.reply === step.reply);
    if (own) return own;
    // A cost comes after the end of what it was paid for, and begins nothing.
    const paid = step.reply ? this.all.at(-1) : this.all.findLast((turn) => turn.memory);
    if (step.step === "booked" && paid) return paid;
    const open = this.all.findLast((turn) => !turn.memory && !turn.done);
    if (!open) return this.begin(step, false);
    return step.step === "received" && open.committed ? this.begin(step, false) : open;
  }

  begin(step, memory) {
    const turn = { at: step.at, memory, rows: [], messages: [], pending: [], taken: [], done: false };
    this.all.push(turn);
    return turn;
  }

  account(turn, step) {
    if (step.step === "received" && step.fresh) {
      this.arrivals.set(step.message, step.at);
      turn.pending.push(step.at);
    }
    if (step.step === "claimed") {
      turn.reply = step.reply;
      turn.messages = step.messages;
      turn.taken = turn.pending.splice(0);
    }
    if (step.step === "superseded" || step.step === "fenced") {
      turn.reply = null;
      turn.pending.unshift(...turn.taken.splice(0));
      turn.messages = [];
    }
    if (step.step === "committed") {
      turn.reply = step.reply;
      turn.committed = true;
      turn.messages = step.messages;
    }
    if (step.step === "sent") turn.waited = step.at - this.lastArrival(turn);
    const isRefused = step.step === "send_refused" && !step.again;
    const isFailedCompaction = step.step === "model_failed" && turn.memory;
    if (ENDS.has(step.step) || MEMORY.has(step.step) || isRefused || isFailedCompaction) turn.done = true;
  }

  // When the last of the messages came that this turn answers.
  lastArrival(turn) {
    const arrivals = turn.messages.map((id) => this.arrivals.get(id)).filter(Boolean);
    return arrivals.length ? Math.max(...arrivals) : turn.at;
  }

  // What is going on: a mood, its words' arguments, and for a wait its two ends.
  now() {
    const turn = this.all.findLast((it) => !it.memory);
    if (!turn) return { mood: "quiet", word: "idle" };
    const row = turn.rows.findLast((it) => it.step !== "booked") ?? turn.rows.at(-1);
    switch (row.step) {
      case "held":
        return heldNow(row);
      case "claimed":
        return { mood: "busy", word: "thinking", args: [row.messages.length], since: row.at };
      case "routed":
        return { mood: "busy", word: "thinking", args: [turn.messages.length], since: row.at };
      case "model_called":
        return { mood: "busy", word: "thinking", args: [turn.messages.length], since: row.at - row.took_ms };
      case "model_failed":
        return { mood: "trouble", word: "failed" };
      case "model_incident":
      case "model_recovered":
        return { mood: "busy", word: "thinking", args: [turn.messages.length], since: row.at };
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

function rowsAfter(turn, row) {
  return turn.rows.slice(turn.rows.indexOf(row) + 1);
}

function heldNow(row) {
  const wait = { at: row.at, until: row.until };
  if (row.reason === "window") return { mood: "wait", word: "window", ...wait };
  if (row.reason === "superseded") return { mood: "wait", word: "superseded", ...wait };
  const mood = row.reason === "backoff" ? "trouble" : "wait";
  return { mood, word: "held", reason: row.reason, ...wait };
}
