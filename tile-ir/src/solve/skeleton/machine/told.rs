//! Rounds of a loop that do what an earlier one has done ([`Rounds`]).

use super::super::hash::Map;
use super::super::plan::Rounds;
use super::super::value::Value;
use super::{Frame, Machine, Stop};
use crate::arena::EntityId as _;

/// Rounds after which it is given up to look for like ones, where none were.
const MAX_UNLIKE: usize = 64;

/// Questions that cost as much as one access.
const PER_QUESTION: usize = 4;

/// The rounds of a loop so far: what they hand on, by what decides what they do.
#[derive(Default)]
pub(super) struct Told {
    /// Beside it, whether the round came by a barrier.
    known: Map<Vec<Value>, (Vec<Value>, bool)>,
    /// What decides about the round that is run.
    asked: Vec<Value>,
    /// In which interval that one began.
    interval: u32,
    is_unlike: bool,
    /// What was asked and has not been paid for.
    cost: usize,
}

impl<'a> Machine<'a> {
    /// Whether the round that begins does what an earlier one did. If so, it is over: the
    /// work-items have what it would hand on.
    pub(super) fn is_told(
        &mut self,
        rounds: Option<&Rounds>,
        told: &mut Told,
        frames: &mut [Frame],
    ) -> Result<bool, Stop> {
        let Some(rounds) = rounds.filter(|_| self.only_fills && !told.is_unlike) else {
            return Ok(false);
        };
        told.asked.clear();
        let Ok(asked) = self.answers(rounds, frames) else {
            // What a round would not ask for may not be asked.
            told.is_unlike = true;
            return Ok(false);
        };
        told.asked = asked;
        told.cost += 1 + told.asked.len();
        self.spend(told.cost / PER_QUESTION)?;
        told.cost %= PER_QUESTION;
        told.interval = self.interval();
        let Some((after, has_met)) = told.known.get(&told.asked) else { return Ok(false) };
        let mut after = after.iter();
        for frame in frames {
            for (var, value) in rounds.carried.iter().zip(&mut after) {
                frame[var.index()] = *value;
            }
        }
        // What is before that round and what is after it are in two intervals.
        if *has_met {
            self.end_interval();
        }
        Ok(true)
    }

    /// Keeps what a round that was run has handed on.
    pub(super) fn tell(&self, rounds: Option<&Rounds>, told: &mut Told, frames: &[Frame]) {
        let Some(rounds) = rounds.filter(|_| self.only_fills && !told.is_unlike) else { return };
        let after =
            frames.iter().flat_map(|frame| rounds.carried.iter().map(|var| frame[var.index()]));
        let has_met = self.interval() != told.interval;
        told.known.insert(std::mem::take(&mut told.asked), (after.collect(), has_met));
        told.is_unlike = told.known.len() == MAX_UNLIKE;
    }

    fn answers(&mut self, rounds: &Rounds, frames: &mut [Frame]) -> Result<Vec<Value>, Stop> {
        let mut answers = Vec::new();
        for (item, frame) in frames.iter_mut().enumerate() {
            if item == 0 || !rounds.is_common {
                for (var, value) in &rounds.named {
                    frame[var.index()] = self.eval(frame, *value)?;
                }
                for question in &rounds.questions {
                    answers.push(self.eval(frame, *question)?);
                }
            }
            answers.extend(rounds.carried.iter().map(|var| frame[var.index()]));
        }
        Ok(answers)
    }
}
