//! Who goes on: of an iteration that some leave by `break` or `return`, the variables of
//! those who come to its end.
//!
//! `if found { break; } i += 64;` stands as `if found { stopped = true; } else { i += 64; }`,
//! after which `i` is one of two values. But whoever is in the next iteration has taken the
//! step, so that every iteration adds the same for those who run it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::Sharing;
use super::super::walk::{Value, Walk};
use super::behind::Entered;
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, Stmt, StmtKind, VarId};
use crate::syntax::Jump;

/// Variables with their values.
type Values = BTreeMap<VarId, Value>;

/// The variables at the end of statements that some have left.
#[derive(Clone, Debug)]
pub(in super::super) struct Stayed {
    /// Of those who go on.
    values: Values,
    /// Of those who have left, by the place where they did.
    left: Vec<Values>,
}

impl Stayed {
    /// A variable's value of those who go on, if it is the one or `start` of those who have
    /// left.
    pub(in super::super) fn value(&self, var: VarId, start: &Value) -> Option<&Value> {
        let own = self.values.get(&var)?;
        let is_one = |left: &Values| left.get(&var).is_some_and(|of| of == own || of == start);
        self.left.iter().all(is_one).then_some(own)
    }

    /// By the place where some have left, whether they have taken a variable's step of that
    /// iteration.
    pub(in super::super) fn has_changed(&self, var: VarId, start: &Value) -> Vec<bool> {
        self.left.iter().map(|left| left.get(&var) != Some(start)).collect()
    }
}

/// How often variables have gone on after a loop: who leaves it between the steps of two has
/// taken one of them once more.
pub(in super::super) struct Rounds {
    sharing: Sharing,
    /// What holds in each iteration that is begun from the first one on.
    entered: Option<Entered>,
    /// By who has taken the step of the last iteration.
    known: Vec<(Vec<bool>, Poly)>,
}

impl Rounds {
    /// Of a loop, of which none has been asked for yet.
    pub(in super::super) fn new(sharing: Sharing, entered: Option<Entered>) -> Self {
        Self { sharing, entered, known: Vec::new() }
    }
}

/// Who comes to the end of an arm of an `if`.
#[derive(Clone, Debug)]
pub(in super::super) enum ArmEnd {
    Everyone,
    Some(Stayed),
    Nobody,
}

/// The variables that say that a work-item has left a loop or the kernel.
pub(in super::super) fn leaving(kernel: &Kernel) -> BTreeSet<VarId> {
    let leaves = |jump: Jump| matches!(jump, Jump::Break | Jump::Return);
    let exits = kernel.exits.iter().filter(|exit| leaves(exit.jump));
    let flags: BTreeSet<VarId> = exits.filter_map(|exit| exit.flag).collect();
    let others = kernel.exits.iter().filter(|exit| !leaves(exit.jump));
    let others: BTreeSet<VarId> = others.filter_map(|exit| exit.flag).collect();
    flags.difference(&others).copied().collect()
}

impl Walk<'_> {
    /// Who has come to the end of an arm that has just been walked.
    pub(in super::super) fn arm_end(&mut self, arm: &[Stmt]) -> ArmEnd {
        let is_true =
            |value: ExprId| self.kernel.exprs[value].kind == ExprKind::Literal(Literal::Bool(true));
        match arm.last().map(|stmt| &stmt.kind) {
            Some(StmtKind::Assign { var, value })
                if self.leaving.contains(var) && is_true(*value) =>
            {
                ArmEnd::Nobody
            }
            Some(StmtKind::If { .. }) => self.stayed.take().map_or(ArmEnd::Everyone, ArmEnd::Some),
            Some(_) | None => ArmEnd::Everyone,
        }
    }

    /// How often a variable has gone on that those have changed who left.
    pub(in super::super) fn rounds_of(&mut self, rounds: &mut Rounds, changed: &[bool]) -> Poly {
        if let Some((_, known)) = rounds.known.iter().find(|(by, _)| by == changed) {
            return known.clone();
        }
        let unknown = self.symbol(rounds.sharing.clone(), Some(0), None);
        let own = Poly::unknown(unknown);
        if let Some(entered) = &rounds.entered {
            self.note_last_entered(unknown, entered);
        }
        for (_, other) in &rounds.known {
            let near = Formula::le(&own, &other.plus(1)).and(Formula::le(other, &own.plus(1)));
            self.symbols.add_facts(unknown, near);
        }
        rounds.known.push((changed.to_vec(), own.clone()));
        own
    }

    /// Whether a condition only asks that nobody has left.
    pub(in super::super) fn asks_who_stays(&self, cond: ExprId) -> bool {
        let mut flags = BTreeSet::new();
        self.collect_clear(cond, &mut flags) && flags.is_subset(&self.leaving)
    }
}

/// Who goes on after an `if`, by the ends of its arms and the variables there; `None` where
/// nobody is known to have left.
pub(in super::super) fn joined(one: (ArmEnd, &Values), other: (ArmEnd, &Values)) -> Option<Stayed> {
    match (one, other) {
        ((ArmEnd::Nobody, left), (ArmEnd::Everyone, values))
        | ((ArmEnd::Everyone, values), (ArmEnd::Nobody, left)) => {
            Some(Stayed { values: values.clone(), left: vec![left.clone()] })
        }
        ((ArmEnd::Nobody, left), (ArmEnd::Some(mut stayed), _))
        | ((ArmEnd::Some(mut stayed), _), (ArmEnd::Nobody, left)) => {
            stayed.left.push(left.clone());
            Some(stayed)
        }
        ((ArmEnd::Nobody, _), (ArmEnd::Nobody, _))
        | ((ArmEnd::Everyone | ArmEnd::Some(_), _), (ArmEnd::Everyone | ArmEnd::Some(_), _)) => {
            None
        }
    }
}
