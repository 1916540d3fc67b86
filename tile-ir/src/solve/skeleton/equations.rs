//! Sizes at which comparisons of several sizes say something new.
//!
//! `if H != W + 3 || H < 9 { … }` is passed by where one number is three more than another, and
//! `if A * B == 391 { … }` where one divides 391: in a sample of sizes that differ in a number
//! or two there need be none. So a comparison that several dimensions or scalars decide is
//! solved. The others as they are, the difference of its sides has another sign from some
//! value of one of them on; a search by halves finds where. Where the sides are to be equal and
//! pass each other without having met, another number of the comparison goes on step by step,
//! as far as small factors and remainders ask.
//!
//! Of blocks and of rounds it is the last that sizes decide.
//!
//! What is found is where to look, nothing more: the sizes are run.

use std::collections::BTreeSet;

use super::sizes::Sizes;
use super::thresholds::Comparisons;
use crate::arena::EntityId as _;
use crate::kernel::{ExprId, ExprKind, VarId, VarKind};
use crate::op::{BinaryOp, CompareOp};

/// Comparisons that are solved.
const MAX_SOLVED: usize = 6;

/// Steps of another number until the sides of an equation meet.
const MAX_STEPS: i64 = 32;

/// Differences that are computed, for all.
const MAX_COMPUTED: u32 = 1 << 14;

/// A comparison of sides that several sizes decide.
struct Relation {
    op: CompareOp,
    sides: [ExprId; 2],
    /// The sizes.
    vars: Vec<VarId>,
}

impl Relation {
    fn is_equation(&self) -> bool {
        matches!(self.op, CompareOp::Eq | CompareOp::Ne)
    }
}

/// What solves the comparisons of a kernel.
pub(super) struct Solver<'a> {
    comparisons: &'a Comparisons<'a>,
    relations: Vec<Relation>,
    /// By whether they may be below 0, the values between which is searched.
    ladders: [Vec<i64>; 2],
    left: u32,
}

impl<'a> Solver<'a> {
    pub(super) fn of(comparisons: &'a Comparisons<'a>, ladders: [Vec<i64>; 2]) -> Self {
        let relations = comparisons.all.iter().filter_map(|(op, lhs, rhs)| {
            let sides = [*lhs, *rhs];
            // Where a coordinate is compared with one size, that is enough.
            let is_mixed = matches!(op, CompareOp::Eq | CompareOp::Ne)
                || sides.iter().any(|side| multiplies(comparisons, *side));
            let mut vars = BTreeSet::new();
            sides.iter().for_each(|side| launched(comparisons, (*side, is_mixed), &mut vars));
            let vars: Vec<VarId> = vars.into_iter().collect();
            (vars.len() > 1).then_some(Relation { op: *op, sides, vars })
        });
        let relations = relations.take(MAX_SOLVED).collect();
        Self { comparisons, relations, ladders, left: MAX_COMPUTED }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.relations.is_empty()
    }

    /// Sizes that differ from these in what a comparison names, and from which on it says
    /// something else.
    pub(super) fn solutions(&mut self, base: &Sizes) -> Vec<Sizes> {
        let relations = std::mem::take(&mut self.relations);
        let mut found = Vec::new();
        for relation in &relations {
            let begun = found.len();
            for var in &relation.vars {
                found.extend(self.turns(relation, *var, base));
            }
            let meets = |sizes: &Sizes| self.difference(relation, sizes) == Some(0);
            if relation.is_equation() && !found[begun..].iter().any(meets) {
                found.extend(self.meeting(relation, base));
            }
        }
        self.relations = relations;
        found
    }

    /// Sizes at which the sides of an equation meet, another number a few steps further.
    fn meeting(&mut self, relation: &Relation, base: &Sizes) -> Option<Sizes> {
        for other in &relation.vars {
            let first = base.values[other.index()].unwrap_or(0);
            for step in 1..=MAX_STEPS {
                let moved = with(base, *other, first.saturating_add(step));
                for var in relation.vars.iter().filter(|var| *var != other) {
                    let turns = self.turns(relation, *var, &moved);
                    let met = |sizes: &Sizes| self.difference(relation, sizes) == Some(0);
                    if let Some(found) = turns.into_iter().find(met) {
                        return Some(found);
                    }
                }
            }
        }
        None
    }

    /// Sizes with another value of `var`, the first of each sign that the difference has.
    fn turns(&mut self, relation: &Relation, var: VarId, base: &Sizes) -> Vec<Sizes> {
        let ladder = self.ladders[usize::from(self.comparisons.has_negatives(var))].clone();
        let mut found = Vec::new();
        let mut last: Option<(i64, i128)> = None;
        for value in ladder {
            let Some(sign) = self.sign(relation, &with(base, var, value)) else { break };
            if let Some((before, old)) = last
                && old != sign
            {
                let (mut low, mut high) = (before, value);
                while low + 1 < high {
                    let middle = low + (high - low) / 2;
                    let Some(sign) = self.sign(relation, &with(base, var, middle)) else { break };
                    if sign == old { low = middle } else { high = middle }
                }
                found.push(with(base, var, high));
            }
            last = Some((value, sign));
        }
        found
    }

    fn sign(&mut self, relation: &Relation, sizes: &Sizes) -> Option<i128> {
        self.left = self.left.checked_sub(1)?;
        self.difference(relation, sizes).map(i128::signum)
    }

    fn difference(&self, relation: &Relation, sizes: &Sizes) -> Option<i128> {
        let [lhs, rhs] = relation.sides.map(|side| self.comparisons.value(side, sizes));
        lhs?.checked_sub(rhs?)
    }
}

/// The same sizes but for one.
fn with(base: &Sizes, var: VarId, value: i64) -> Sizes {
    let mut sizes = base.clone();
    sizes.values[var.index()] = Some(value);
    sizes
}

/// Adds the dimensions and scalars that an expression names, be it by the ends of coordinates
/// and counters where these are asked for.
fn launched(
    comparisons: &Comparisons<'_>,
    (expr, by_ends): (ExprId, bool),
    out: &mut BTreeSet<VarId>,
) {
    let plain = &comparisons.plain;
    let kind = &plain.kernel.exprs[expr].kind;
    let of = match kind {
        ExprKind::Var(var) => match plain.kernel.vars[*var].kind {
            VarKind::Dim | VarKind::Scalar(_) => {
                out.insert(*var);
                None
            }
            VarKind::Let { .. } => plain.lets.get(var).copied(),
            VarKind::Grid | VarKind::Each | VarKind::Loop if by_ends => comparisons.end(*var),
            VarKind::TileParam(_)
            | VarKind::Grid
            | VarKind::Block
            | VarKind::Each
            | VarKind::Loop => None,
        },
        _ => None,
    };
    let parts = kind.operands().into_iter().chain(of);
    parts.for_each(|part| launched(comparisons, (part, by_ends), out));
}

/// Whether an expression is made of a product of what are no literals.
fn multiplies(comparisons: &Comparisons<'_>, expr: ExprId) -> bool {
    let plain = &comparisons.plain;
    let exprs = &plain.kernel.exprs;
    let is_size = |part: ExprId| match exprs[part].kind {
        ExprKind::Literal(_) => true,
        ExprKind::Var(var) => matches!(plain.kernel.vars[var].kind, VarKind::TileParam(_)),
        _ => false,
    };
    match &exprs[expr].kind {
        ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } if !is_size(*lhs) && !is_size(*rhs) => {
            true
        }
        ExprKind::Var(var) => plain.lets.get(var).is_some_and(|of| multiplies(comparisons, *of)),
        kind => kind.operands().into_iter().any(|part| multiplies(comparisons, part)),
    }
}
