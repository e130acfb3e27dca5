// Everything a person reads on the page, in Portuguese and English, chosen by the browser's language.

const pt = {
  skip: "Ir para a mensagem",
  tagline: "Escreva em pedaços. A resposta vem uma vez só.",
  people: "Pessoas",
  add: "Outra pessoa",
  phone: "Telefone com código do país",
  phoneHint: "Só números, por exemplo 5511900000002. Ninguém de verdade recebe nada.",
  open: "Abrir conversa",
  chat: "Conversa",
  draft: "Escreva uma mensagem",
  send: "Enviar",
  welcomeTitle: "Escreva como as pessoas escrevem",
  welcomeText: "Várias mensagens curtas, um pensamento só. Ao lado você vê o agente esperar, juntar tudo e responder uma vez.",
  tryBurst: ["oi", "queria marcar um horário", "pra sexta", "de manhã se tiver"],
  tryIt: (texts) => `Mandar ${texts.map((text) => `“${text}”`).join(", ")}`,
  story: "O que está acontecendo",
  storyEmpty: "Nada ainda. Cada mensagem, espera e resposta aparece aqui, na hora.",
  memory: "O que fica na memória",
  live: "ao vivo",
  connecting: "conectando…",
  lost: "sem conexão, tentando de novo…",
  you: "Você",
  youAre: (name) => `Você é ${name}`,
  agent: "Agente",
  notSent: "Não saiu do telefone.",
  again: "Tentar de novo",
  retrying: (problem) => `O sistema ainda não aceitou (${problem}). O telefone tenta de novo.`,
  ticks: { sending: "saindo", waiting: "no provedor", sent: "enviada", delivered: "entregue", read: "lida" },
  ties: (n) => (n === 1 ? "responde 1 mensagem" : `${n} mensagens, 1 resposta`),
  today: "Hoje",
  now: {
    quiet: "Tudo respondido.",
    idle: "Pronto para ouvir.",
    received: "Chegou. Vendo se vem mais…",
    window: "Esperando você terminar",
    thinking: (n) => (n === 1 ? "Pensando em 1 mensagem" : `Pensando em ${n} mensagens juntas`),
    superseded: "Chegou mais uma: começa de novo com tudo",
    sending: "Enviando a resposta",
    answered: (s) => `Respondido ${s} depois da última mensagem.`,
    failed: "O modelo falhou; tenta de novo",
    closed: "Fica sem resposta",
    held: (why) => `Esperando: ${why}`,
    unknown: "Não se sabe se a resposta chegou.",
    refused: "O provedor recusou a resposta.",
    forgotten: "Tudo sobre esta pessoa foi apagado.",
  },
  reasons: {
    window: "a pessoa ainda pode estar escrevendo",
    leased: "outra execução cuida da conversa",
    backoff: "pausa depois de uma falha",
    contended: "a conversa está disputada",
    superseded: "chegou mensagem nova no meio",
    send_later: "o provedor pediu para enviar depois",
    short_of_time: "pouco tempo nesta execução",
    future_version: "dado de uma versão mais nova",
  },
  closed: {
    kind_not_answered: "este tipo de mensagem ainda não tem resposta",
    opted_out: "a pessoa pediu para parar",
    paused: "um humano assumiu a conversa",
    spend_limit: "o limite de gasto de hoje foi atingido",
    no_agent: "nenhum agente configurado",
  },
  steps: {
    received: "Recebida",
    repeated: "Repetida pelo provedor, ignorada",
    held: "Esperou",
    holding: "Esperando",
    until: (time) => `até ${time}`,
    times: (n) => (n === 1 ? "recomeçou 1 vez" : `recomeçou ${n} vezes`),
    claimed: (n) => (n === 1 ? "Pegou 1 mensagem" : `Juntou ${n} mensagens numa só vez`),
    routed: (name) => `Escolheu o modelo ${name}`,
    points: (score, threshold) => `${score} de ${threshold} pontos`,
    model: (name) => `Modelo ${name}`,
    tokens: (input, output) => `${input} tokens lidos, ${output} escritos`,
    cached: (n) => `${n} do cache`,
    failed: (name) => `Modelo ${name} falhou`,
    superseded: "Largou a resposta: chegou mais uma",
    committed: "Resposta decidida e gravada",
    apology: "Desistiu com uma linha honesta",
    opt_out: "Confirmou o pedido de parar",
    fenced: "Perdeu a vez: outra execução continuou",
    sent: "Enviada",
    refused: (code) => `Envio recusado (${code})`,
    refusedAgain: (code) => `Envio recusado por ora (${code})`,
    unknown: "Envio sem confirmação",
    closed: (n) => (n === 1 ? "1 mensagem fechada sem resposta" : `${n} mensagens fechadas sem resposta`),
    compacted: (items, facts) => `${items} mensagens antigas viraram resumo e ${facts} ${facts === 1 ? "fato" : "fatos"}`,
    compactionRefused: "Compactação recusada; nada mudou",
    tool: (name) => `Usou a ferramenta ${name}`,
    handedOff: "Passou a conversa a alguém da equipe",
    limitReached: (whose) => (whose === "agent" ? "Limite de gasto do agente atingido hoje" : "Limite de gasto da conversa atingido hoje"),
    booked: "Custo anotado",
    free: "nada",
    unknownPrice: (n) => (n === 1 ? "1 chamada sem preço conhecido" : `${n} chamadas sem preço conhecido`),
    over_limit: "Avisou que o limite de hoje acabou",
    paused: "Alguém da equipe assumiu a conversa",
    resumed: "O agente voltou à conversa",
    forgotten: (n) => `Esqueceu tudo: ${n} itens apagados`,
  },
  turn: { open: "em andamento", memory: "Memória", messages: (n) => (n === 1 ? "1 mensagem" : `${n} mensagens`), answered: "1 resposta" },
  recent: (n) => (n === 0 ? "Nenhuma mensagem recente" : n === 1 ? "1 mensagem recente, palavra por palavra" : `${n} mensagens recentes, palavra por palavra`),
  facts: "Fatos",
  noFacts: "Nenhum fato ainda. Eles surgem quando a conversa cresce e é compactada.",
  summary: "Resumo",
  noSummary: "Nenhum resumo ainda.",
  noMemory: "A memória não pôde ser lida agora.",
  state: "Estado interno",
};

const en = {
  skip: "Go to the message field",
  tagline: "Write in pieces. The answer comes once.",
  people: "People",
  add: "Someone else",
  phone: "Phone with country code",
  phoneHint: "Digits only, for instance 5511900000002. Nobody real receives anything.",
  open: "Open conversation",
  chat: "Conversation",
  draft: "Write a message",
  send: "Send",
  welcomeTitle: "Write the way people write",
  welcomeText: "Several short messages, one thought. Beside it you see the agent wait, put them together and answer once.",
  tryBurst: ["hi", "I'd like an appointment", "for friday", "in the morning if you can"],
  tryIt: (texts) => `Send ${texts.map((text) => `“${text}”`).join(", ")}`,
  story: "What is happening",
  storyEmpty: "Nothing yet. Every message, wait and answer shows up here as it happens.",
  memory: "What is remembered",
  live: "live",
  connecting: "connecting…",
  lost: "no connection, trying again…",
  you: "You",
  youAre: (name) => `You are ${name}`,
  agent: "Agent",
  notSent: "It did not leave the phone.",
  again: "Try again",
  retrying: (problem) => `The back end has not taken it yet (${problem}). The phone tries again.`,
  ticks: { sending: "leaving", waiting: "with the provider", sent: "sent", delivered: "delivered", read: "read" },
  ties: (n) => (n === 1 ? "answers 1 message" : `${n} messages, 1 answer`),
  today: "Today",
  now: {
    quiet: "All answered.",
    idle: "Ready to listen.",
    received: "It arrived. Is there more to come?",
    window: "Waiting for you to finish",
    thinking: (n) => (n === 1 ? "Thinking about 1 message" : `Thinking about ${n} messages together`),
    superseded: "One more came: starting over with all of it",
    sending: "Sending the answer",
    answered: (s) => `Answered ${s} after the last message.`,
    failed: "The model failed; trying again",
    closed: "Stays without an answer",
    held: (why) => `Waiting: ${why}`,
    unknown: "Nobody knows whether the answer arrived.",
    refused: "The provider refused the answer.",
    forgotten: "Everything about this person is gone.",
  },
  reasons: {
    window: "the person may still be writing",
    leased: "another run has the conversation",
    backoff: "a pause after a failure",
    contended: "the conversation is contended",
    superseded: "a new message came meanwhile",
    send_later: "the provider asked to send later",
    short_of_time: "little time left in this run",
    future_version: "data of a newer version",
  },
  closed: {
    kind_not_answered: "this kind of message has no answer yet",
    opted_out: "the person asked to stop",
    paused: "a human has taken over",
    spend_limit: "today's spending limit is reached",
    no_agent: "no agent is configured",
  },
  steps: {
    received: "Received",
    repeated: "Repeated by the provider, ignored",
    held: "Waited",
    holding: "Waiting",
    until: (time) => `until ${time}`,
    times: (n) => (n === 1 ? "started over once" : `started over ${n} times`),
    claimed: (n) => (n === 1 ? "Took 1 message" : `Took ${n} messages as one`),
    routed: (name) => `Chose the model ${name}`,
    points: (score, threshold) => `${score} of ${threshold} points`,
    model: (name) => `Model ${name}`,
    tokens: (input, output) => `${input} tokens read, ${output} written`,
    cached: (n) => `${n} from the cache`,
    failed: (name) => `Model ${name} failed`,
    superseded: "Dropped the answer: one more came",
    committed: "Answer decided and stored",
    apology: "Gave up with an honest line",
    opt_out: "Confirmed the wish to stop",
    fenced: "Lost its turn: another run went on",
    sent: "Sent",
    refused: (code) => `Send refused (${code})`,
    refusedAgain: (code) => `Send refused for now (${code})`,
    unknown: "Send without confirmation",
    closed: (n) => (n === 1 ? "1 message closed without an answer" : `${n} messages closed without an answer`),
    compacted: (items, facts) => `${items} old messages became a summary and ${facts} ${facts === 1 ? "fact" : "facts"}`,
    compactionRefused: "Compaction refused; nothing changed",
    tool: (name) => `Used the tool ${name}`,
    handedOff: "Handed the conversation to a human",
    limitReached: (whose) => (whose === "agent" ? "Today's spending limit of the agent is reached" : "Today's spending limit of the conversation is reached"),
    booked: "Cost noted",
    free: "nothing",
    unknownPrice: (n) => (n === 1 ? "1 call of unknown price" : `${n} calls of unknown price`),
    over_limit: "Said that today's limit is reached",
    paused: "A human has taken the conversation over",
    resumed: "The agent has the conversation again",
    forgotten: (n) => `Forgot everything: ${n} items deleted`,
  },
  turn: { open: "under way", memory: "Memory", messages: (n) => (n === 1 ? "1 message" : `${n} messages`), answered: "1 answer" },
  recent: (n) => (n === 0 ? "No recent messages" : n === 1 ? "1 recent message, word for word" : `${n} recent messages, word for word`),
  facts: "Facts",
  noFacts: "No facts yet. They appear when the conversation grows and is compacted.",
  summary: "Summary",
  noSummary: "No summary yet.",
  noMemory: "Memory cannot be read just now.",
  state: "Inner state",
};

const isPortuguese = navigator.language.toLowerCase().startsWith("pt");
export const words = isPortuguese ? pt : en;
export const language = isPortuguese ? "pt-BR" : navigator.language.toLowerCase().startsWith("en") ? navigator.language : "en";

const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const clockWithSeconds = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(language, { weekday: "long", day: "numeric", month: "long" });
const decimal = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat(language);

export const hourMinute = (ms) => clock.format(ms);
export const hourMinuteSecond = (ms) => clockWithSeconds.format(ms);
export const number = (n) => whole.format(n);
export const seconds = (ms) => `${decimal.format(Math.max(0, ms) / 1000)} s`;
export const duration = (ms) => (ms < 1000 ? `${whole.format(ms)} ms` : seconds(ms));
export const dayOf = (ms) => {
  const date = new Date(ms);
  return date.toDateString() === new Date().toDateString() ? words.today : day.format(date);
};

// An element with a class and children; text is never read as HTML.
export function element(name, classes, ...children) {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Fills in every word the HTML asks for.
export function fillIn() {
  document.documentElement.lang = language;
  for (const it of document.querySelectorAll("[data-word]")) it.textContent = words[it.dataset.word];
  for (const it of document.querySelectorAll("[data-label]")) it.setAttribute("aria-label", words[it.dataset.label]);
  for (const it of document.querySelectorAll("[data-placeholder]")) it.placeholder = words[it.dataset.placeholder];
}
