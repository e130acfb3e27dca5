//! What was added to the schedules later, from dice of its own: all else of a schedule stays what it would be without.

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::{Act, Fault, Plan};

const HOUR_MS: i64 = 3_600_000;

/// Draws which of these a schedule has.
pub fn draw(plan: &mut Plan, seed: u64) {
    let dice = &mut dice(seed, 0);
    if plan.swarm.is_fair() {
        return;
    }
    for (fault, share) in [
        (Fault::AgentChanged, 0.12),
        (Fault::ClockWrong, 0.06),
        (Fault::PortPanics, 0.1),
        (Fault::ToolLate, 0.3),
    ] {
        let has_place = fault != Fault::ToolLate || plan.turns_with_tools > 0;
        if dice.random_bool(share) && has_place {
            plan.swarm = plan.swarm.with(fault);
        }
    }
}

/// Plans what happens of them at a moment.
pub fn plan(plan: &mut Plan, seed: u64) {
    let dice = &mut dice(seed, 1);
    let end = plan.said.iter().map(|said| said.at).max().unwrap_or(0) + 20_000;
    if plan.swarm.on(Fault::AgentChanged) {
        for _ in 0..dice.random_range(1..=3) {
            let at = dice.random_range(0..end);
            plan.agenda.push((at, Act::Agent(dice.random_range(0..4))));
        }
    }
    if plan.swarm.on(Fault::ClockWrong) {
        // An erasure that is dated hours ahead is not over before that.
        let ahead = !plan.swarm.on(Fault::Forget) && dice.random_bool(0.4);
        let hours = dice.random_range(1..=6) * if ahead { HOUR_MS } else { -HOUR_MS };
        let at = dice.random_range(0..end);
        plan.agenda.push((at, Act::Clock(hours)));
        let back = at + dice.random_range(1_000..60_000);
        plan.agenda.push((back, Act::Clock(0)));
    }
}

fn dice(seed: u64, which: u64) -> StdRng {
    StdRng::seed_from_u64(seed.rotate_left(17) ^ 0x2545_f491_4f6c_dd1d ^ which)
}
