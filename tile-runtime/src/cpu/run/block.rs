//! One block: its roles, taking turns.
//!
//! A role runs until it waits at a barrier or ends; its position in its list is
//! all there is to keep of it, since control flow is jumps and its variables
//! have registers of their own.

use tile_ir::program::Participants;

use super::frame::{Fault, Frame, Next};
use crate::cpu::code::Agent;

/// Why a block was stopped.
#[derive(Debug)]
pub(super) enum Stop {
    /// An operation cannot be done.
    Fault(Fault),
    /// A role waits for one that has ended; the role's position.
    BarrierMismatch(usize),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Where a role is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Goes on at a position.
    Ready(usize),
    /// Waits for all roles, then goes on at a position.
    Waiting(usize),
    /// Has ended.
    Done,
}

/// Runs the block whose coordinates the frame's registers hold.
pub(super) fn run_block(frame: &mut Frame<'_>, agents: &[Agent], block: u64) -> Result<(), Stop> {
    frame.begin_block(block);
    if let [agent] = agents {
        // Alone, it waits for nobody.
        run_role(frame, agent, 0, 1)?;
        return Ok(());
    }
    let mut states = vec![State::Ready(0); agents.len()];
    loop {
        for (state, agent) in states.iter_mut().zip(agents) {
            if let State::Ready(position) = *state {
                *state = run_role(frame, agent, position, agents.len())?;
            }
        }
        if states.iter().all(|state| *state == State::Done) {
            return Ok(());
        }
        // None is ready here: the others wait for those that have ended, if any.
        let waiting = states.iter().position(|state| matches!(state, State::Waiting(_)));
        if let (Some(waiting), true) = (waiting, states.contains(&State::Done)) {
            return Err(Stop::BarrierMismatch(waiting));
        }
        for state in &mut states {
            if let State::Waiting(position) = *state {
                *state = State::Ready(position);
            }
        }
    }
}

/// Runs a role until it waits or ends.
fn run_role(
    frame: &mut Frame<'_>,
    agent: &Agent,
    mut position: usize,
    n_roles: usize,
) -> Result<State, Fault> {
    while let Some(instr) = agent.code.get(position) {
        match frame.step(instr, position)? {
            Next::At(next) => position = next,
            Next::Items(program) => {
                frame.run_items(program)?;
                position += 1;
            }
            Next::Barrier(participants) => {
                position += 1;
                frame.in_block.clear();
                if let Some(watcher) = &mut frame.watcher {
                    watcher.pass_barrier();
                }
                // Alone, or among warps that run as one, it has arrived.
                let alone = n_roles == 1
                    || matches!(participants, Participants::Role(role) if {
                        use tile_ir::arena::EntityId as _;
                        role.index() == agent.role
                    });
                if !alone {
                    return Ok(State::Waiting(position));
                }
            }
        }
    }
    Ok(State::Done)
}
