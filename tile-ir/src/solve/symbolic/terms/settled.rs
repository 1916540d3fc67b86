//! Choices that who comes by has settled.
//!
//! `if t < d { …; mid /= 2; } d /= 2;` leaves in `mid` one of two numbers, and in the next round
//! the same again. Who passes `t < d` there has passed it in all rounds before, so of what `mid`
//! may be one number is left. It is asked where rounds are walked one by one, in which such
//! choices pile up.

use super::super::algebra::poly::Poly;
use super::super::scans::prefix::single;
use super::super::walk::{Value, Walk};

/// Most choices one within the other that are looked through.
const MAX_CHOICES: usize = 16;

impl Walk<'_> {
    /// A value as who comes by here knows it.
    pub(in super::super) fn as_settled(&self, value: Value) -> Value {
        match value {
            Value::Int(of) if self.case.walks_rounds && !self.guards.is_empty() => {
                Value::Int(self.settled_choice(of))
            }
            Value::Int(_) | Value::Cond(_) | Value::Other => value,
        }
    }

    fn settled_choice(&self, value: Poly) -> Poly {
        let mut value = value;
        for _ in 0..MAX_CHOICES {
            let Some((cond, then, otherwise)) =
                single(&value).and_then(|choice| self.choices.get(&choice))
            else {
                break;
            };
            let is_none = |of| self.is_none_here(std::slice::from_ref(of));
            value = if is_none(&cond.no) {
                then.clone()
            } else if is_none(&cond.yes) {
                otherwise.clone()
            } else {
                break;
            };
        }
        value
    }
}
