//! What a schedule is made of, all of it from its seed: who writes what and when, how the provider delivers it, what the
//! operator does, and which faults may happen at all.

mod aim;
mod apart;
mod faults;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

pub use aim::{Aim, Trait};
pub use faults::{Fault, Swarm};

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Words that name themselves.
    Words,
    /// STOP.
    Stop,
    /// A kind that is not answered.
    Unsupported,
}

/// Which ids an event gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    /// The phone alone.
    Phone,
    /// The BSUID alone.
    Bsuid,
    /// Both.
    Both,
}

/// One message of a person.
#[derive(Debug, Clone)]
pub struct Said {
    /// Who.
    pub person: usize,
    /// Milliseconds from the beginning.
    pub at: u64,
    /// What.
    pub kind: Kind,
    /// Named how.
    pub ids: Ids,
    /// How long ago it was sent when it first comes, in milliseconds.
    pub age: u64,
    /// When the provider delivers it, after `at`.
    pub deliveries: Vec<u64>,
}

/// What the operator or fate does at a planned moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Delivers this message.
    Deliver(usize),
    /// Forgets this person.
    Forget(usize),
    /// Opts this person out.
    OptOut(usize),
    /// Takes over from the agent for this long.
    Pause(usize, u64),
    /// Gives the conversation back.
    Resume(usize),
    /// A stranger gets this person's number, and writes with the message of this index.
    Recycle(usize),
    /// Moves the clock's error to this many milliseconds.
    Clock(i64),
    /// Puts another version of the agent's file in place.
    Agent(usize),
    /// Kills the process; it starts again after this long.
    Kill(u64),
    /// Empties the queues.
    Purge,
}

/// A schedule.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that a schedule has or has not"
)]
pub struct Plan {
    /// Which faults may happen.
    pub swarm: Swarm,
    /// Which of them happen often.
    pub aim: Aim,
    /// People.
    pub people: usize,
    /// Everything they say.
    pub said: Vec<Said>,
    /// Everything that is planned, in order.
    pub agenda: Vec<(u64, Act)>,
    /// Processors.
    pub processors: usize,
    /// Whether the agent's memory is so small that compactions and cuts happen.
    pub small_memory: bool,
    /// Whether the agent gives up after a minute.
    pub gives_up_soon: bool,
    /// Whether ingest and the operator are so slow that they meet in the middle of everything.
    pub sluggish: bool,
    /// Whether the processor's writes often take seconds.
    pub hesitant: bool,
    /// Usual time of a model call, in milliseconds: at most.
    pub model_ms_max: u64,
    /// Of ten turns so many call tools; zero where there are none.
    pub turns_with_tools: u32,
    /// Whether the agent has a fallback.
    pub has_fallback: bool,
}

impl Plan {
    /// The schedule of this seed, aimed so.
    pub fn draw(seed: u64, aim: Aim) -> Self {
        let dice = &mut StdRng::seed_from_u64(seed ^ 0x9e37_79b9_7f4a_7c15);
        let swarm = Swarm::draw(dice, aim);
        let people = [1, 2, 3, 3, 3, 4][dice.random_range(0..6)];
        let mut plan = Self {
            swarm,
            aim,
            people,
            said: Vec::new(),
            agenda: Vec::new(),
            // Where a write outlives its sender, others must go on meanwhile.
            processors: dice
                .random_range(1..=4)
                .max(usize::from(swarm.on(Fault::StoreLate)) * 2),
            small_memory: dice.random_bool(0.6),
            gives_up_soon: dice.random_bool(0.3),
            sluggish: dice.random_bool(0.2),
            hesitant: dice.random_bool(0.15),
            model_ms_max: [1_500, 4_000, 9_000][dice.random_range(0..3)],
            turns_with_tools: 0,
            has_fallback: false,
        };
        plan.tools(seed);
        plan.fallback(seed);
        apart::draw(&mut plan, seed);
        aim.shape(&mut plan);
        for person in 0..people {
            plan.person(dice, person);
        }
        plan.fate(dice);
        apart::plan(&mut plan, seed);
        let mut agenda: Vec<(u64, Act)> = Vec::new();
        for (index, said) in plan.said.iter().enumerate() {
            for after in &said.deliveries {
                agenda.push((said.at + after, Act::Deliver(index)));
            }
        }
        agenda.append(&mut plan.agenda);
        agenda.sort_by_key(|(at, _)| *at);
        plan.agenda = agenda;
        plan
    }

    /// Tools in two schedules of five, from dice of their own: the others stay what they would be without.
    fn tools(&mut self, seed: u64) {
        let dice = &mut StdRng::seed_from_u64(seed ^ 0x517c_c1b7_2722_0a95);
        if dice.random_bool(0.4) {
            self.turns_with_tools = [3, 3, 8][dice.random_range(0..3)];
            self.swarm = self.swarm.draw_tools(dice);
        }
    }

    /// A fallback in two schedules of five, from dice of its own too.
    fn fallback(&mut self, seed: u64) {
        let dice = &mut StdRng::seed_from_u64(seed ^ 0x2c1b_3c6d_85eb_ca6b);
        if dice.random_bool(0.4) {
            self.has_fallback = true;
            self.swarm = self.swarm.draw_fallback(dice);
        }
        self.swarm = self.swarm.draw_ledger(dice);
    }

    /// Thoughts of a few fragments, with pauses between them.
    fn person(&mut self, dice: &mut StdRng, person: usize) {
        let (swarm, aim) = (self.swarm, self.aim);
        let count = if person == 0 && swarm.on(Fault::Flood) {
            300
        } else {
            dice.random_range(4..=14)
        };
        let usual = [Ids::Phone, Ids::Phone, Ids::Both, Ids::Bsuid][dice.random_range(0..4)];
        let mixed =
            swarm.on(Fault::PartialIds) && dice.random_bool(aim.chance(Fault::PartialIds, 0.7));
        // Many first events at once, and erasures between them: where identities are made and unmade.
        let storm = mixed && swarm.on(Fault::Forget) && dice.random_bool(0.6);
        let mut at = dice.random_range(0..6_000);
        let mut left_of_thought = 0;
        let first = self.said.len();
        for n in 0..count {
            let ids = if mixed {
                [Ids::Phone, Ids::Bsuid, Ids::Both][dice.random_range(0..3)]
            } else {
                usual
            };
            let kind = if swarm.on(Fault::Stop) && dice.random_ratio(1, 12) {
                Kind::Stop
            } else if swarm.on(Fault::Unsupported)
                && dice.random_ratio(1, aim.rate(Fault::Unsupported, 12))
            {
                Kind::Unsupported
            } else {
                Kind::Words
            };
            let late = swarm.on(Fault::WebhookLate) && dice.random_ratio(1, 10);
            let age = if late {
                [20_000, 600_000, 2 * 86_400_000][dice.random_range(0..3)]
            } else {
                0
            };
            self.said.push(Said {
                person,
                at,
                kind,
                ids,
                age,
                deliveries: deliveries(dice, swarm),
            });
            if left_of_thought == 0 {
                left_of_thought = [1, 1, 1, 2, 2, 3, 4, 6][dice.random_range(0..8)];
            }
            left_of_thought -= 1;
            at += match (count, left_of_thought) {
                (300, _) => dice.random_range(0..200),
                _ if storm && n < 8 => dice.random_range(0..700),
                // Two first events at once.
                _ if mixed && n == 0 => dice.random_range(0..40),
                (_, 0) => dice.random_range(6_000..60_000),
                _ => dice.random_range(300..5_500),
            };
        }
        let last = self.said.len();
        if storm {
            self.sluggish = true;
            let begun = self.said[first].at;
            for _ in 0..dice.random_range(2..=5) {
                let at = begun + dice.random_range(0..5_000);
                self.agenda.push((at, Act::Forget(person)));
            }
        }
        self.operator(dice, person, first..last);
    }

    /// What the operator does with a person, near the moments of their messages.
    fn operator(&mut self, dice: &mut StdRng, person: usize, said: std::ops::Range<usize>) {
        let (swarm, aim) = (self.swarm, self.aim);
        let near = |plan: &Self, dice: &mut StdRng| {
            let at = plan.said[dice.random_range(said.clone())].at;
            // At once with it, in its window, in its run, or after its answer.
            at + match dice.random_range(0..4) {
                0 => dice.random_range(0..80),
                1 => dice.random_range(0..5_000),
                2 => dice.random_range(5_000..9_000),
                _ => dice.random_range(9_000..40_000),
            }
        };
        if swarm.on(Fault::Forget) && dice.random_bool(aim.chance(Fault::Forget, 0.7)) {
            for _ in 0..dice.random_range(1..=3) {
                let at = near(self, dice);
                self.agenda.push((at, Act::Forget(person)));
            }
        }
        let held = aim.is_at(Fault::OperatorOptOut) || aim.is_at(Fault::Pause);
        let busy = if dice.random_bool(if held { 0.8 } else { 0.3 }) {
            6
        } else {
            1
        };
        if swarm.on(Fault::OperatorOptOut) && dice.random_bool(0.7) {
            for _ in 0..busy {
                let at = near(self, dice);
                self.agenda.push((at, Act::OptOut(person)));
            }
        }
        if swarm.on(Fault::Pause) && dice.random_bool(0.7) {
            for _ in 0..busy * dice.random_range(1..=2) {
                let at = near(self, dice);
                let lasts = [30_000, 120_000, 400_000][dice.random_range(0..3)];
                self.agenda.push((at, Act::Pause(person, lasts)));
                if dice.random_bool(0.7) {
                    let back = at + dice.random_range(20..20_000);
                    self.agenda.push((back, Act::Resume(person)));
                }
            }
        }
        if swarm.on(Fault::NumberRecycled)
            && dice.random_bool(aim.chance(Fault::NumberRecycled, 0.5))
        {
            let at = near(self, dice);
            self.agenda.push((at, Act::Recycle(person)));
        }
    }

    /// What happens to everyone.
    fn fate(&mut self, dice: &mut StdRng) {
        let end = self.said.iter().map(|said| said.at).max().unwrap_or(0) + 20_000;
        if self.swarm.on(Fault::ClockSteps) {
            for _ in 0..dice.random_range(1..=3) {
                let at = dice.random_range(0..end);
                let error = dice.random_range(-4_000..0);
                self.agenda.push((at, Act::Clock(error)));
                let back = at + dice.random_range(1_000..60_000);
                self.agenda.push((back, Act::Clock(0)));
            }
        }
        if self.swarm.on(Fault::ProcessKilled) {
            for _ in 0..dice.random_range(1..=3) {
                let at = dice.random_range(0..end);
                let down = dice.random_range(200..20_000);
                self.agenda.push((at, Act::Kill(down)));
            }
        }
        if self.swarm.on(Fault::QueuePurged) {
            for _ in 0..dice.random_range(1..=2) {
                self.agenda.push((dice.random_range(0..end), Act::Purge));
            }
        }
    }
}

/// When the provider delivers a message: once, unless it is a bad day.
fn deliveries(dice: &mut StdRng, swarm: Swarm) -> Vec<u64> {
    let mut deliveries = vec![dice.random_range(30..250)];
    if swarm.on(Fault::WebhookReordered) && dice.random_ratio(1, 4) {
        deliveries[0] += dice.random_range(500..9_000);
    }
    if swarm.on(Fault::WebhookDoubled) && dice.random_ratio(1, 3) {
        for _ in 0..dice.random_range(1..=2) {
            let after = match dice.random_range(0..3) {
                0 => dice.random_range(0..30),
                1 => dice.random_range(0..15_000),
                _ => dice.random_range(15_000..400_000),
            };
            deliveries.push(deliveries[0] + after);
        }
    }
    deliveries
}
