//! Conversations of ten exchanges, as our own policies put them into requests.

use std::time::Duration;

use recado::config::agent_file::{self, Overrides};
use recado::domain::{
    Address, Agent, Alias, Batch, BusinessNumber, Content, Event, Exchange, Memory, MessageId,
    PastMessage, Phone, Prompt, ReplyId, ReplyKind, State, Timestamp, Tool,
};
use recado::policy::context::{self, Question};
use recado::policy::{agenda, prompt, tokens};

use super::EXCHANGES;

/// Monday, 2 November 2026, 09:00 in São Paulo.
const START: Timestamp = Timestamp::from_ms(1_793_620_800_000);

/// What a person says in one thought, and what is answered.
type Talk = (&'static [&'static str], &'static str);

const BARBER: [Talk; EXCHANGES] = [
    (&["oi", "bom dia"], "Bom dia! Como posso ajudar?"),
    (
        &["quanto tá o corte?"],
        "O corte sai por 50 reais e leva uns 40 minutos.",
    ),
    (
        &["e com barba", "pra dois"],
        "Corte e barba é 75 por pessoa, então 150 para os dois.",
    ),
    (
        &["tem sexta de tarde?"],
        "Anoto o pedido para sexta à tarde, e a equipe confirma o horário. Qual serviço?",
    ),
    (
        &["corte e barba", "eu e meu filho"],
        "Anotado: corte e barba para você, e para o seu filho também?",
    ),
    (
        &["ele só corte"],
        "Certo: corte e barba para você, corte para ele. Sexta à tarde, umas 15h?",
    ),
    (
        &["15h tá ótimo"],
        "Pedido anotado para sexta às 15h. A equipe confirma em breve.",
    ),
    (
        &["aceita cartão?"],
        "Vou perguntar à equipe sobre o cartão e já te digo.",
    ),
    (
        &["e tem onde estacionar", "vou de carro"],
        "Sobre o estacionamento também pergunto, para você vir tranquilo.",
    ),
    (&["fechou, obrigado!"], "Eu que agradeço! Até sexta."),
];

const LONG: [Talk; EXCHANGES] = [(
    &[
        "Então, hoje de manhã eu tive aquela reunião com o pessoal da obra e ficou combinado que o telhado começa na semana \
         que vem, só que antes disso eu preciso comprar as telhas, ligar para o eletricista, ver se a prefeitura já liberou o \
         alvará e pagar a segunda parcela do arquiteto, que vence no dia dez.",
        "Me ajuda a pôr isso numa ordem que faça sentido, sabendo que eu só tenho a quinta e a sexta livres e que o \
         eletricista nunca atende depois das seis da tarde, e que as telhas demoram uns três dias para chegar.",
    ],
    "Eu começaria pelo que não depende só de você. Hoje ainda, peça as telhas, porque elas levam três dias e o telhado \
     começa na semana que vem. Na quinta de manhã, confira o alvará na prefeitura: sem ele nada anda, e se faltar um papel \
     ainda sobra a sexta para levar. Ligue para o eletricista na quinta antes das seis, já sabendo do alvará, para \
     combinar a entrada dele logo depois do telhado. O arquiteto pode ser pago a qualquer hora até o dia dez, então deixe \
     para a sexta, quando o resto estiver resolvido. Quer que eu anote cada um com o dia?",
); EXCHANGES];

/// One kind of conversation.
#[derive(Clone)]
pub struct Shape {
    /// Who talks about what.
    pub label: &'static str,
    agent: Agent,
    tools: Vec<Tool>,
    talk: [Talk; EXCHANGES],
    person: &'static str,
}

/// The default agent; the same with tools and much to say.
pub fn shapes() -> Vec<Shape> {
    let Ok(mut agent) = agent_file::default_agent(&Overrides::none()) else {
        unreachable!("the embedded agent is read by every test");
    };
    let shape = |label, agent: &Agent, tools, talk| Shape {
        label,
        agent: agent.clone(),
        tools,
        talk,
        person: "one",
    };
    let reception = shape("reception, short messages", &agent, Vec::new(), BARBER);
    let chatty = shape("reception, long messages", &agent, Vec::new(), LONG);
    agent.agenda = true;
    let tools = agenda::tools::declared();
    let secretary = shape(
        "agenda's tools, short messages",
        &agent,
        tools.clone(),
        BARBER,
    );
    let planner = shape("agenda's tools, long messages", &agent, tools, LONG);
    vec![reception, chatty, secretary, planner]
}

impl Shape {
    /// The requests of ten exchanges, each `gap` after the one before.
    pub fn in_a_row(&self, gap: Duration) -> Vec<Prompt> {
        let mut memory = Memory::default();
        let mut state = State::new(Vec::<Alias>::new(), START);
        let mut prompts = Vec::new();
        for (n, talk) in (0_u32..).zip(&self.talk) {
            let now = START.plus(gap * n);
            let batch = batch(n, talk, now);
            let selected = context::select(Question {
                agent: &self.agent,
                memory: &memory,
                batch: &batch,
                state: &state,
            });
            let prompt = prompt::answer(&self.agent, &selected, &batch, &state, now, self.person);
            prompts.push(prompt::with_tools(prompt, &self.tools, &[], false));
            state.cut_point = selected.cut_point.or(state.cut_point);
            state.last_inbound_at = Some(now);
            memory.exchanges.push(past(n, &batch, talk.1));
        }
        prompts
    }

    /// The same ten thoughts, each by somebody who never wrote before.
    pub fn single(&self) -> Vec<Prompt> {
        let alone = |talk: &Talk| {
            let shape = Self {
                talk: [*talk; EXCHANGES],
                ..self.clone()
            };
            shape.in_a_row(Duration::ZERO).swap_remove(0)
        };
        self.talk.iter().map(alone).collect()
    }

    /// The same agent, and somebody else.
    pub fn of_another_person(&self) -> Self {
        Self {
            person: "two",
            talk: [(&["boa tarde"], "Boa tarde!"); EXCHANGES],
            ..self.clone()
        }
    }

    /// The same with all that was ever said in every request.
    pub fn without_a_budget(&self) -> Self {
        let mut shape = self.clone();
        shape.agent.budget.history_tokens_max = 200_000;
        shape.agent.budget.messages_max = 400;
        shape
    }

    /// Tokens of all answers.
    pub fn answer_tokens(&self) -> u32 {
        self.talk
            .iter()
            .map(|(_, answer)| tokens::estimate(answer))
            .sum()
    }
}

fn batch(n: u32, (said, _): &Talk, now: Timestamp) -> Batch {
    let event = |(i, text): (usize, &&str)| Event {
        id: id(n, i),
        reply_to: Address::Phone(fictitious(Phone::parse("5511900000001"))),
        number: fictitious(BusinessNumber::parse("100")),
        sent_at: now,
        arrived_at: now,
        content: Content::Text((*text).to_owned()),
        closed: None,
    };
    Batch::from_pending(said.iter().enumerate().map(event).collect())
}

fn past(n: u32, batch: &Batch, answer: &str) -> Exchange {
    let message = |event: &Event| PastMessage {
        id: event.id.clone(),
        sent_at: event.sent_at,
        text: event.text().unwrap_or_default().to_owned(),
    };
    Exchange {
        reply: ReplyId::from_parts(START.ms() + u64::from(n), 1),
        messages: batch.events().iter().map(message).collect(),
        calls: Vec::new(),
        answer: Some(answer.to_owned()),
        delivered: true,
        known_sent: true,
        kind: ReplyKind::Answer,
    }
}

fn id(n: u32, i: usize) -> MessageId {
    fictitious(MessageId::parse(format!("wamid.{n}.{i}")))
}

fn fictitious<T, E>(parsed: Result<T, E>) -> T {
    parsed.unwrap_or_else(|_| unreachable!("it is well made"))
}
