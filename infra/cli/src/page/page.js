// The page: who is on the phone, what they write, and what comes live. Sending never waits for anything.

import { Chat } from "/chat.js";
import { Memory } from "/memory.js";
import { Now } from "/now.js";
import { Timeline } from "/timeline.js";
import { Turns } from "/turns.js";
import { element, fillIn, words } from "/words.js";

const FIRST_PHONE = "5511900000001";
const BURST_GAP_MS = 700;
const $ = (id) => document.getElementById(id);

fillIn();
$("try").textContent = words.tryIt(words.tryBurst);

const people = new Map();
let phone = null;
let pace = null;
let turns = new Turns(pace);
let seen = 0;
let clockAhead = 0;
let source = null;
let loads = 0;
const sending = new Map();

const serverNow = () => Date.now() + clockAhead;
const chat = new Chat($("chat"), $("scroll"), (bubble) => send(phone, bubble));
const timeline = new Timeline($("turns"), $("story-empty"), (id) => chat.text(id), serverNow);
const now = new Now($("now"), $("typing"), serverNow);
const memory = new Memory($("memory"));

async function getJson(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

// People.

function remembered() {
  try {
    return JSON.parse(localStorage.getItem("phones")) ?? [];
  } catch {
    return [];
  }
}

function remember() {
  try {
    localStorage.setItem("phones", JSON.stringify([...people.keys()].slice(0, 50)));
    localStorage.setItem("phone", phone);
  } catch {
    // A browser that keeps nothing still chats.
  }
}

function meet(number, name) {
  const person = people.get(number) ?? { unread: 0 };
  people.set(number, person);
  person.name = name ?? person.name ?? number;
  return person;
}

function hue(number) {
  let sum = 7;
  for (const digit of number) sum = (sum * 31 + Number(digit)) % 8;
  return sum;
}

function paintPeople() {
  const chips = [...people].map(([number, person]) => {
    const button = element("button", "chip", element("span", `face f${hue(number)}`, [...person.name][0]), person.name);
    button.type = "button";
    button.title = `+${number}`;
    if (number === phone) button.setAttribute("aria-current", "true");
    if (person.unread) button.append(element("span", "unread", String(person.unread)));
    button.addEventListener("click", () => open(number));
    return element("li", "", button);
  });
  $("people").replaceChildren(...chips);
}

async function open(number) {
  phone = number;
  const person = meet(number);
  person.unread = 0;
  remember();
  chat.clear();
  beginStory();
  await load();
  paintPeople();
  $("draft").focus({ preventScroll: true });
}

function beginStory() {
  timeline.clear();
  turns = new Turns(pace);
  seen = 0;
  now.show(turns.now());
}

// Everything about the open conversation, anew. A load that was overtaken by another is dropped.
async function load() {
  const mine = ++loads;
  const of = phone;
  try {
    const [conversation, story] = await Promise.all([
      getJson(`/phone/conversations/${of}`),
      getJson(`/story?phone=${of}`),
    ]);
    if (mine !== loads) return;
    meet(of, conversation.name);
    clockAhead = story.now - Date.now();
    $("chat-name").textContent = words.youAre(conversation.name);
    $("chat-phone").textContent = `+${of} · ${conversation.bsuid}`;
    $("chat-face").textContent = [...conversation.name][0];
    $("chat-face").className = `face f${hue(of)}`;
    conversation.messages.forEach((message) => chat.put(message));
    chat.leavingLast();
    turns.pace = pace = { window: story.window_ms, ceiling: story.ceiling_ms };
    story.steps.forEach(take);
    readFromBefore(conversation.messages, story.steps);
    $("welcome").hidden = !chat.isEmpty;
    chat.toEnd();
    remember();
    memory.refresh(of);
    listen(story);
  } catch {
    if (mine !== loads) return;
    link("lost");
    setTimeout(load, 2000);
  }
}

// Of the time before this process the story tells nothing: what has an answer after it has been read.
function readFromBefore(messages, steps) {
  const told = new Set(steps.filter((step) => step.step === "received").map((step) => step.message));
  const lastAnswer = messages.findLastIndex((message) => message.side === "agent");
  const before = messages.slice(0, Math.max(0, lastAnswer));
  chat.read(before.filter((message) => message.side === "person" && !told.has(message.id)).map((message) => message.id));
}

// Steps and messages.

function take(step) {
  if (step.seq <= seen) return;
  seen = step.seq;
  if (step.step === "claimed" || step.step === "committed") chat.read(step.messages);
  if (step.step === "committed" && step.kind === "answer") chat.tie(step.reply, step.messages);
  timeline.show(turns.add(step));
  now.show(turns.now());
  if (["committed", "compacted", "closed", "forgotten"].includes(step.step)) memory.refreshSoon(phone);
}

function takeMessage(message) {
  const isNew = !people.has(message.phone);
  if (isNew) meet(message.phone);
  if (message.phone === phone) {
    chat.put(message);
    $("welcome").hidden = !chat.isEmpty;
    return;
  }
  if (message.side === "agent" && message.status === "waiting") meet(message.phone).unread += 1;
  if (isNew) loadPeople();
  else paintPeople();
}

async function loadPeople() {
  const { conversations } = await getJson("/phone/conversations");
  conversations.forEach((conversation) => meet(conversation.phone, conversation.name));
  paintPeople();
}

// Live.

function listen(story) {
  source?.close();
  link("connecting");
  source = new EventSource(`/story/live?story=${story.story}&since=${story.last}`);
  let greeted = false;
  source.addEventListener("hello", () => {
    link("live");
    // Messages carry no number: after a break the whole chat is asked for.
    if (greeted) load();
    greeted = true;
  });
  source.addEventListener("reset", () => {
    chat.forget();
    beginStory();
    load();
  });
  source.addEventListener("step", (event) => {
    const step = JSON.parse(event.data);
    if (step.phone === phone) take(step);
  });
  source.addEventListener("message", (event) => {
    if (event.data) takeMessage(JSON.parse(event.data));
  });
  source.addEventListener("error", () => {
    link("lost");
    if (source.readyState === EventSource.CLOSED) setTimeout(load, 2000);
  });
}

function link(state) {
  $("link").dataset.state = state;
  $("link").textContent = words[state];
}

// Writing. Each person's texts leave one after the other, without holding up the next keystroke.

function write(text) {
  if (!text.trim()) return;
  const bubble = chat.leave(text.trim());
  $("welcome").hidden = true;
  send(phone, bubble);
}

function send(from, bubble) {
  const before = sending.get(from) ?? Promise.resolve();
  sending.set(from, before.then(() => post(from, bubble)));
}

async function post(from, bubble) {
  try {
    const { ids } = await postJson({ from, text: bubble.message.text });
    if (from === phone) chat.adopt(bubble, ids[0]);
  } catch {
    chat.fail(bubble);
  }
}

async function postJson(body) {
  const answer = await fetch("/phone/messages", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}

function grow() {
  const draft = $("draft");
  draft.style.height = "auto";
  draft.style.height = `${Math.min(draft.scrollHeight + 2, 160)}px`;
  draft.style.overflowY = draft.scrollHeight > 160 ? "auto" : "hidden";
}

function submit() {
  write($("draft").value);
  $("draft").value = "";
  grow();
  $("draft").focus();
}

$("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
$("draft").addEventListener("input", grow);
$("draft").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    submit();
  }
});
$("try").addEventListener("click", async () => {
  $("welcome").hidden = true;
  $("draft").focus();
  try {
    await postJson({ from: phone, texts: words.tryBurst, gap_ms: BURST_GAP_MS });
  } catch {
    $("welcome").hidden = false;
  }
});
$("add").addEventListener("click", () => {
  const form = $("newcomer");
  form.hidden = !form.hidden;
  $("add").setAttribute("aria-expanded", String(!form.hidden));
  if (form.hidden) return;
  let next = BigInt(FIRST_PHONE);
  while (people.has(String(next))) next += 1n;
  $("newcomer-phone").value = String(next);
  $("newcomer-phone").select();
});
$("newcomer").addEventListener("submit", (event) => {
  event.preventDefault();
  const number = $("newcomer-phone").value.replace("+", "");
  $("newcomer").hidden = true;
  $("add").setAttribute("aria-expanded", "false");
  open(number);
});
$("newcomer").addEventListener("keydown", (event) => {
  if (event.key === "Escape") $("add").click();
});

setInterval(() => {
  timeline.tick();
  now.tick();
}, 100);

remembered().forEach((number) => meet(number));
link("connecting");
loadPeople()
  .catch(() => {})
  .then(() => {
    let last = null;
    try {
      last = localStorage.getItem("phone");
    } catch {
      // No memory of who was open.
    }
    return open(last ?? people.keys().next().value ?? FIRST_PHONE);
  });
