//! The cases of a value that choices make.
//!
//! `at = if p { a } else { if q { b } else { c } };` is `a`, `b` or `c`, each under conditions.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::walk::Walk;

/// What a value is where all of these conditions hold.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) conds: Vec<Cond>,
    pub(super) value: Poly,
}

impl Case {
    /// Where it is.
    pub(super) fn holds(&self) -> Formula {
        Formula::All(self.conds.iter().map(|cond| cond.yes.clone()).collect())
    }
}

impl Walk<'_> {
    /// The cases of a value, at most so many; `None` where there are more, or one of them has too
    /// many terms. A condition that is known whole decides about all its choices at once; of one
    /// of which a part is not known it cannot be said that two are one.
    pub(super) fn cases(&self, value: &Poly, most: usize) -> Option<Vec<Case>> {
        let mut open = vec![Case { conds: Vec::new(), value: value.clone() }];
        let mut out = Vec::new();
        while let Some(case) = open.pop() {
            let choice = case.value.unknowns().find_map(|of| Some((of, self.choice_of(of)?)));
            let Some((chosen, (cond, ..))) = choice else {
                out.push(case);
                continue;
            };
            let is_decided = |of: Unknown, by: &Cond| of == chosen || by == cond && cond.is_exact();
            for is_then in [false, true] {
                let value = case.value.replace(&|unknown| {
                    let (by, then, otherwise) = self.choice_of(unknown)?;
                    let value = if is_then { then } else { otherwise };
                    is_decided(unknown, by).then(|| value.clone())
                });
                if value.is_lost() {
                    return None;
                }
                let cond = if is_then { cond.clone() } else { cond.clone().negated() };
                let conds = case.conds.iter().cloned().chain([cond]).collect();
                open.push(Case { conds, value });
            }
            if open.len() + out.len() > most {
                return None;
            }
        }
        Some(out)
    }
}
