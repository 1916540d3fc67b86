//! Proofs by cases, where one for all launches was not found.
//!
//! `i / m % n` of `m: i32` that may be of either sign, or 0, has a case for each; digits come
//! apart only of sizes that are known to be positive. A launch has one `m`. So each number of
//! the launch by which something is divided or multiplied is walked as one above 0, as 0, and
//! as the opposite of one above 0, which are all that there are; what is proved in each
//! combination is proved. In these walks it is also asked between which values loops keep the
//! variables that they set by data ([`super::super::loops::bounded`]), which costs more than
//! it mostly tells. A sign that no launch has by its preconditions is no case.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::super::search::linear::Effort;
use super::super::terms::integers::range_of;
use super::super::tiles::own_arrays::has_loops_of_own_arrays;
use super::super::walk::begin::walk_case;
use super::super::walk::{Case, Walk};
use super::super::{IsAsked, Unproved, prove_some};
use super::decided::unproved_either_way;
use super::listed::unproved_in_each;
use super::put_in::unproved_with_each_value;
use super::valued::{Cases, few_or_clamped, unproved_for_each_value};
use crate::check::{Uniformity, spans_of_launch};
use crate::kernel::{
    ExprId, ExprKind, Kernel, Literal, StmtKind, TileDomain, VarId, VarKind, any_stmt,
    immutable_lets,
};
use crate::op::BinaryOp;

/// Most combinations of signs.
const MAX_CASES: usize = 27;

/// Of how many parts of all effort a walk takes one at most.
const PART: usize = 4;

/// The sign of a number of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Sign {
    Above,
    Zero,
    Below,
}

/// Those of `open` that have no proof by any cases: of signs, of values, of conditions, or of
/// rounds.
pub(crate) fn unproved_by_cases(
    kernel: &Kernel,
    uniformity: &Uniformity,
    open: &[Unproved],
) -> Vec<Unproved> {
    let (of, patience) = ((kernel, uniformity), Patience::default());
    let left = unproved_with_arrays(of, &patience, open);
    let left = unproved_in_each_case(of, &patience, &left);
    let left = unproved_for_each_value(of, &patience, &left);
    let left = unproved_with_each_value(of, &patience, &left);
    let left = unproved_either_way(of, &patience, &left);
    unproved_in_each_round(of, &patience, &left)
}

/// Those of `open` that are not proved where local arrays are known by the round in which loops
/// have filled them, and rounds are not walked one by one: that makes as many cases as there are
/// ways through them.
fn unproved_with_arrays(
    (kernel, uniformity): (&Kernel, &Uniformity),
    patience: &Patience,
    open: &[Unproved],
) -> Vec<Unproved> {
    if !has_loops_of_own_arrays(kernel) {
        return open.to_vec();
    }
    let shares = Shares::equal(1, patience);
    unproved_in_each(&[()], open, &shares, &|(), is_asked| {
        let case = Case { keeps_arrays: true, ..Case::default() };
        unproved_in_case((kernel, uniformity), case, &shares, is_asked)
    })
}

/// Those of `open` that are not proved in each case.
fn unproved_in_each_case(
    (kernel, uniformity): (&Kernel, &Uniformity),
    patience: &Patience,
    open: &[Unproved],
) -> Vec<Unproved> {
    let cases = combinations(kernel);
    let shares = Shares::alone(cases.len(), patience);
    unproved_in_each(&cases, open, &shares, &|signs, is_asked| {
        let case = Case { signs: signs.clone(), is_limited: true, ..Case::default() };
        unproved_in_case((kernel, uniformity), case, &shares, is_asked)
    })
}

/// Those of `open` that are not proved where the rounds of loops are walked one by one, if they
/// are few: what each leaves to the next is then known, as a width that is halved and the
/// place behind what it has filled so far. Where a launch has few of the numbers that say how
/// many rounds there are, so it is with each of these.
fn unproved_in_each_round(
    (kernel, uniformity): (&Kernel, &Uniformity),
    patience: &Patience,
    open: &[Unproved],
) -> Vec<Unproved> {
    let few = few_or_clamped(kernel);
    let Some(deciding) = deciding_rounds(kernel, &few).filter(|_| !open.is_empty()) else {
        return open.to_vec();
    };
    let of_each = few.iter().filter(|(var, _)| deciding.contains(var));
    let cases = combined(of_each.map(|(var, given)| (*var, given.as_slice())), MAX_CASES);
    let shares = Shares::of(cases.len(), patience);
    unproved_in_each(&cases, open, &shares, &|values, is_asked| {
        let case = Case { walks_rounds: true, values: values.clone(), ..Case::default() };
        unproved_in_case((kernel, uniformity), case, &shares, is_asked)
    })
}

/// The parameters of few values that say how many rounds loops have; `None` where there is no
/// loop of which nothing else says it.
fn deciding_rounds(kernel: &Kernel, few: &Cases) -> Option<BTreeSet<VarId>> {
    let mut begun = BTreeMap::new();
    any_stmt(&kernel.body, &mut |kind| {
        if let StmtKind::Let { var, init: Some(init) } = kind {
            begun.insert(*var, *init);
        }
        false
    });
    let mut deciding = None;
    any_stmt(&kernel.body, &mut |kind| {
        let bounds = match kind {
            StmtKind::For { range, .. } | StmtKind::Phase { range, .. } => range.exprs(),
            StmtKind::While { cond, .. } => vec![*cond],
            _ => return false,
        };
        let mut asked = BTreeSet::new();
        let mut bounds = bounds.into_iter();
        if bounds.all(|bound| is_number((kernel, &begun, few), bound, &mut asked)) {
            deciding.get_or_insert_with(BTreeSet::new).extend(asked);
        }
        false
    });
    deciding
}

/// Whether an expression is a number once those of the `asked` parameters are known.
fn is_number(
    known: (&Kernel, &BTreeMap<VarId, ExprId>, &Cases),
    expr: ExprId,
    asked: &mut BTreeSet<VarId>,
) -> bool {
    let (kernel, lets, few) = known;
    match &kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(_)) => true,
        ExprKind::Var(var) => match kernel.vars[*var].kind {
            VarKind::Scalar(_) => {
                few.contains_key(var) && {
                    asked.insert(*var);
                    true
                }
            }
            VarKind::TileParam(param) => match &kernel.tile_params[param].domain {
                TileDomain::Equal(value) => is_number(known, *value, asked),
                TileDomain::List(values) => values.len() == 1,
                TileDomain::Any | TileDomain::Range { .. } | TileDomain::Pow2 { .. } => false,
            },
            _ => lets.get(var).is_some_and(|init| is_number(known, *init, asked)),
        },
        kind @ (ExprKind::Binary { .. }
        | ExprKind::Cast(_)
        | ExprKind::Compare { .. }
        | ExprKind::Select { .. }) => {
            kind.operands().into_iter().all(|operand| is_number(known, operand, asked))
        }
        _ => false,
    }
}

/// The combinations of signs of as many of the numbers as are not too many; first, all are
/// above 0.
pub(in super::super) fn combinations(kernel: &Kernel) -> Vec<BTreeMap<VarId, Sign>> {
    let spans = spans_of_launch(kernel);
    let numbers = numbers(kernel).into_iter();
    let signs: Vec<(VarId, Vec<Sign>)> =
        numbers.map(|var| (var, signs_of(kernel, var, &spans))).collect();
    combined(signs.iter().map(|(var, signs)| (*var, signs.as_slice())), MAX_CASES)
}

/// The combinations of what variables may be, of as many variables as make no more than so
/// many; the first cases of the last variable come first.
pub(in super::super) fn combined<'c, T: Clone + 'c>(
    of_each: impl Iterator<Item = (VarId, &'c [T])>,
    most: usize,
) -> Vec<BTreeMap<VarId, T>> {
    let mut all = vec![BTreeMap::new()];
    for (var, cases) in of_each {
        if all.len() * cases.len() > most {
            continue;
        }
        let with = |case: &T| -> Vec<BTreeMap<VarId, T>> {
            let is = |given: &BTreeMap<VarId, T>| {
                let mut given = given.clone();
                given.insert(var, case.clone());
                given
            };
            all.iter().map(is).collect()
        };
        all = cases.iter().flat_map(with).collect();
    }
    all
}

/// How many walks of one kernel's cases may find nothing left for proofs when they are at the
/// end of its text: those of other cases would find as little.
const MAX_HARD: usize = 6;

/// How many more of these there may be.
#[derive(Debug)]
pub(in super::super) struct Patience(Cell<usize>);

impl Default for Patience {
    fn default() -> Self {
        Self(Cell::new(MAX_HARD))
    }
}

/// What the walks of cases may take together: hard cases take what easy ones leave.
#[derive(Debug)]
pub(in super::super) struct Shares<'p> {
    left: Effort,
    /// Of how many parts of all effort a walk takes one at most.
    part: usize,
    patience: &'p Patience,
}

impl<'p> Shares<'p> {
    /// Of so many cases: each one's part of all effort, or twice all effort.
    pub(in super::super) fn of(cases: usize, patience: &'p Patience) -> Self {
        let left = Effort::parts(cases, PART.max(cases / 2));
        Self { left, part: PART, patience }
    }

    /// Of so many cases: twice all effort, and each may take its equal share.
    pub(in super::super) fn equal(cases: usize, patience: &'p Patience) -> Self {
        let part = (cases / 2).max(1);
        Self { left: Effort::parts(cases, part), part, patience }
    }

    /// Of so many cases: four times all effort at most, of which each may take all.
    pub(in super::super) fn whole(cases: usize, patience: &'p Patience) -> Self {
        Self { left: Effort::parts(cases, (cases / 4).max(1)), part: 1, patience }
    }

    /// Of so many cases: as much for each as it has alone.
    fn alone(cases: usize, patience: &'p Patience) -> Self {
        Self { left: Effort::parts(cases, PART), part: PART, patience }
    }

    /// What a walk finds that takes its share.
    pub(in super::super) fn within<'a>(
        &self,
        walk: &mut Walk<'a>,
        prove: impl FnOnce(&Walk<'a>) -> Vec<Unproved>,
    ) -> Vec<Unproved> {
        let left = &self.patience.0;
        left.set(left.get().saturating_sub(usize::from(walk.effort.is_spent())));
        walk.set_effort(self.left.taken(self.part));
        let unproved = prove(walk);
        self.left.put_back(&walk.effort);
        unproved
    }

    /// Whether no more cases are to be walked.
    pub(in super::super) fn are_over(&self) -> bool {
        self.patience.0.get() == 0
    }
}

/// Those of the pairs of which `is_asked` that are not proved in a case.
pub(in super::super) fn unproved_in_case(
    (kernel, uniformity): (&Kernel, &Uniformity),
    case: Case,
    shares: &Shares<'_>,
    is_asked: &IsAsked<'_>,
) -> Vec<Unproved> {
    let mut walk = walk_case(kernel, uniformity, case);
    shares.within(&mut walk, |walk| prove_some(walk, is_asked, &mut BTreeSet::new))
}

/// The signs that a scalar parameter or dimension may have in a launch that keeps within these
/// spans.
fn signs_of(kernel: &Kernel, var: VarId, spans: &BTreeMap<VarId, (i128, i128)>) -> Vec<Sign> {
    let is_signed = range_of(kernel.vars[var].ty).is_some_and(|(min, _)| min < 0);
    let (low, high) = spans.get(&var).copied().unwrap_or((i128::MIN, i128::MAX));
    let may_be = |sign: &Sign| match sign {
        Sign::Above => high > 0,
        Sign::Zero => low <= 0 && 0 <= high,
        Sign::Below => is_signed && low < 0,
    };
    // One case there must be.
    let signs = [Sign::Above, Sign::Zero, Sign::Below].into_iter();
    let signs: Vec<Sign> = signs.filter(may_be).collect();
    if signs.is_empty() { vec![Sign::Above] } else { signs }
}

/// The integers of the launch of which divisors are made, then those of which factors are.
fn numbers(kernel: &Kernel) -> Vec<VarId> {
    let lets = immutable_lets(&kernel.body, kernel);
    let (mut divisors, mut factors) = (Vec::new(), Vec::new());
    for expr in kernel.exprs.values() {
        match expr.kind {
            ExprKind::Binary { op: BinaryOp::Div | BinaryOp::Rem, rhs, .. } => {
                collect(kernel, &lets, rhs, &mut divisors);
            }
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
                [lhs, rhs].into_iter().for_each(|side| collect(kernel, &lets, side, &mut factors));
            }
            _ => {}
        }
    }
    // Of a factor it is mostly enough that it is not below 0, as no extent is.
    factors.retain(|var| matches!(kernel.vars[*var].kind, VarKind::Scalar(_)));
    let mut seen = BTreeSet::new();
    divisors.into_iter().chain(factors).filter(|var| seen.insert(*var)).collect()
}

/// The integers of the launch in a sum or product.
fn collect(kernel: &Kernel, lets: &BTreeMap<VarId, ExprId>, expr: ExprId, out: &mut Vec<VarId>) {
    let mut go_on = |part: ExprId| collect(kernel, lets, part, out);
    match kernel.exprs[expr].kind {
        ExprKind::Var(var) => match kernel.vars[var].kind {
            VarKind::Scalar(_) if range_of(kernel.vars[var].ty).is_some() => out.push(var),
            VarKind::Dim => out.push(var),
            _ => lets.get(&var).into_iter().for_each(|init| go_on(*init)),
        },
        ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, lhs, rhs } => {
            [lhs, rhs].into_iter().for_each(go_on);
        }
        ExprKind::Cast(of) => go_on(of),
        _ => {}
    }
}
