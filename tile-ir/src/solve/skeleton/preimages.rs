//! Data that takes comparisons both ways, whatever is made of it before it is compared.
//!
//! `if a[t] * 2 != 1234 { … }` is passed by where an element is 617, and of `(x >> 3) + 1 < 90` the
//! sides meet from 712 on. So each comparison is followed back: from what the other side is, and
//! the numbers next to it, through operators of which one operand is known, conversions, names,
//! and what the kernel itself has stored, down to elements of arrays, what a launch gives and
//! coordinates of blocks. Of operators that have no inverse some number is taken that may do.
//!
//! What is found is where to look, nothing more: the data is real, and is run.

use std::collections::{BTreeMap, BTreeSet};

use super::amounts::is_whole;
use super::data::Number;
use super::plain::{Plain, given};
use super::sizes::Sizes;
use crate::kernel::{
    ArrayRef, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, Type, VarId, VarKind,
};
use crate::op::{BinaryOp, MathFn, UnaryOp};

/// Most steps back, for all comparisons.
const MAX_STEPS: u32 = 4096;

/// How far one is followed back.
const MAX_DEPTH: u32 = 24;

/// Most values of one element, scalar or coordinate.
const MAX_VALUES: usize = 24;

/// The values that comparisons ask for.
#[derive(Clone, Debug, Default)]
pub(super) struct Preimages {
    /// Of elements, by array.
    pub(super) arrays: BTreeMap<ArrayRef, Vec<Number>>,
    /// Of what a launch gives, and of coordinates of blocks.
    pub(super) vars: BTreeMap<VarId, BTreeSet<i64>>,
}

impl Preimages {
    /// Those of some of a kernel's comparisons, at sizes like these.
    pub(super) fn of(kernel: &Kernel, compared: &BTreeSet<ExprId>, sizes: &Sizes) -> Self {
        let mut back = Back {
            plain: Plain::of(kernel),
            sizes,
            set: Values::of(&kernel.body),
            found: Self::default(),
            left: MAX_STEPS,
        };
        for expr in compared {
            let ExprKind::Compare { lhs, rhs, .. } = kernel.exprs[*expr].kind else { continue };
            for (side, other) in [(lhs, rhs), (rhs, lhs)] {
                let asked = back.known(other).map_or_else(guesses, |known| known.around());
                for target in asked.into_iter().chain(beyond(kernel.exprs[side].ty)) {
                    back.seek(side, target, MAX_DEPTH);
                }
            }
        }
        back.found
    }
}

fn guesses() -> Vec<Number> {
    vec![Number::Int(0), Number::Int(1)]
}

/// What a float may be beside numbers: of what is none, no comparison but `!=` holds.
fn beyond(ty: Type) -> Vec<Number> {
    match is_whole(ty) {
        true => Vec::new(),
        false => [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(Number::Float).to_vec(),
    }
}

/// What variables are set to, and elements of arrays.
#[derive(Default)]
pub(super) struct Values {
    pub(super) vars: BTreeMap<VarId, Vec<ExprId>>,
    /// What variables are changed by.
    by: BTreeMap<VarId, Vec<ExprId>>,
    pub(super) arrays: BTreeMap<ArrayRef, Vec<ExprId>>,
}

impl Values {
    pub(super) fn of(stmts: &[Stmt]) -> Self {
        let mut values = Self::default();
        values.add(stmts);
        values
    }

    /// What a variable is set to and changed by.
    pub(super) fn made_by(&self, var: VarId) -> impl Iterator<Item = ExprId> {
        let set = self.vars.get(&var).into_iter().chain(self.by.get(&var));
        set.flatten().copied()
    }

    fn add(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Update { place: Place::Var(var), value, .. } => {
                    self.by.entry(*var).or_default().push(*value);
                }
                StmtKind::Assign { var, value }
                | StmtKind::Let { var, init: Some(value) }
                | StmtKind::Exchange { var, value, .. } => {
                    self.vars.entry(*var).or_default().push(*value);
                }
                StmtKind::Store { access, value }
                | StmtKind::Update { place: Place::Element(access), value, .. }
                | StmtKind::Atomic { access, value, .. } => {
                    self.arrays.entry(access.array).or_default().push(*value);
                }
                StmtKind::LetArray { tile, init: Some(init) } => {
                    self.arrays.entry(ArrayRef::Tile(*tile)).or_default().push(*init);
                }
                StmtKind::LetArray { .. }
                | StmtKind::Let { .. }
                | StmtKind::Each { .. }
                | StmtKind::Phase { .. }
                | StmtKind::For { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Distinct { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => {}
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.add(body));
        }
    }
}

struct Back<'a> {
    plain: Plain<'a>,
    sizes: &'a Sizes,
    set: Values,
    found: Preimages,
    left: u32,
}

impl Back<'_> {
    /// The value of what no data decides.
    fn known(&self, expr: ExprId) -> Option<Number> {
        if let ExprKind::Literal(Literal::Float(value)) = self.plain.kernel.exprs[expr].kind {
            return Some(Number::Float(value));
        }
        self.plain.value(expr, &|var| given(self.sizes, var)).map(Number::Int)
    }

    /// Looks for what makes an expression this number.
    fn seek(&mut self, expr: ExprId, target: Number, depth: u32) {
        let (Some(left), Some(depth)) = (self.left.checked_sub(1), depth.checked_sub(1)) else {
            return;
        };
        self.left = left;
        let kernel = self.plain.kernel;
        let target = of_type(target, kernel.exprs[expr].ty);
        match &kernel.exprs[expr].kind {
            ExprKind::Load(access) => {
                let known = self.found.arrays.entry(access.array).or_default();
                let is_known = known.iter().any(|known| known.is_same(target));
                if known.len() < MAX_VALUES && !is_known {
                    known.push(target);
                }
                let stored = self.set.arrays.get(&access.array).cloned();
                stored.iter().flatten().for_each(|value| self.seek(*value, target, depth));
            }
            ExprKind::Var(var) => match kernel.vars[*var].kind {
                VarKind::Scalar(_) | VarKind::Grid | VarKind::TileParam(_) | VarKind::Dim => {
                    let known = self.found.vars.entry(*var).or_default();
                    if known.len() < MAX_VALUES {
                        known.extend(target.whole().and_then(|target| i64::try_from(target).ok()));
                    }
                }
                VarKind::Let { .. } => {
                    let values = [self.set.vars.get(var), self.set.by.get(var)];
                    let values = values.map(|values| values.cloned().unwrap_or_default());
                    values.iter().flatten().for_each(|value| self.seek(*value, target, depth));
                }
                VarKind::Block | VarKind::Each | VarKind::Loop => {}
            },
            ExprKind::Cast(operand) | ExprKind::Uniform(operand) => {
                self.seek(*operand, target, depth);
            }
            ExprKind::Unary { op, operand } => {
                let target = match (op, target) {
                    (UnaryOp::Neg, target) => target.negated(),
                    (UnaryOp::Not, Number::Int(target)) => Number::Int(!target),
                    (UnaryOp::Not, target) => target,
                };
                self.seek(*operand, target, depth);
            }
            ExprKind::Math { func, arg } => {
                for target in arguments(*func, target) {
                    self.seek(*arg, target, depth);
                }
            }
            ExprKind::Select { then, otherwise, .. } => {
                [then, otherwise].into_iter().for_each(|arm| self.seek(*arm, target, depth));
            }
            ExprKind::Binary { op, lhs, rhs } => {
                if kernel.is_same(*lhs, *rhs)
                    && let Number::Int(target) = target
                {
                    self.seek(*lhs, Number::Int((target.max(0) as f64).sqrt() as i128), depth);
                }
                for (part, other, is_first) in [(*lhs, *rhs, true), (*rhs, *lhs, false)] {
                    let others = self.known(other).map_or_else(guesses, |known| vec![known]);
                    for other in others {
                        for target in operands(*op, (target, other), is_first) {
                            self.seek(part, target, depth);
                        }
                    }
                }
            }
            ExprKind::Literal(_)
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => {}
        }
    }
}

/// A number of a type.
fn of_type(number: Number, ty: Type) -> Number {
    let is_whole = is_whole(ty);
    match number.whole() {
        Some(whole) if is_whole => Number::Int(whole),
        _ if is_whole => number,
        _ => Number::Float(number.real()),
    }
}

/// Numbers of which a function may make this one.
pub(super) fn arguments(func: MathFn, target: Number) -> Vec<Number> {
    let value = target.real();
    let argument = match func {
        MathFn::Abs => return vec![target, target.negated()],
        MathFn::Sqrt => value * value,
        MathFn::Rsqrt => 1.0 / (value * value),
        MathFn::Exp => value.ln(),
        MathFn::Exp2 => value.log2(),
        MathFn::Log => value.exp(),
        MathFn::Log2 => value.exp2(),
        _ => return vec![target],
    };
    vec![Number::Float(argument)]
}

/// Numbers of which an operator, the other operand given, may make this one.
pub(super) fn operands(
    op: BinaryOp,
    (target, other): (Number, Number),
    is_first: bool,
) -> Vec<Number> {
    let (Some(whole), Some(by)) = (target.whole(), other.whole()) else {
        let (target, other) = (target.real(), other.real());
        let value = match (op, is_first) {
            (BinaryOp::Add, _) => target - other,
            (BinaryOp::Sub, true) => target + other,
            (BinaryOp::Sub, false) => other - target,
            (BinaryOp::Mul, _) => target / other,
            (BinaryOp::Div, true) => target * other,
            (BinaryOp::Div, false) => other / target,
            _ => target,
        };
        return vec![Number::Float(value)];
    };
    let shift = u32::try_from(by).ok().filter(|by| *by < 64);
    let exact = match (op, is_first) {
        (BinaryOp::Add, _) => whole.checked_sub(by),
        (BinaryOp::Sub, true) => whole.checked_add(by),
        (BinaryOp::Sub, false) => by.checked_sub(whole),
        (BinaryOp::Mul, _) => {
            let mut all = both(whole.checked_div(by));
            // Of floats, what lies between.
            all.extend(
                (whole % by.max(1) != 0).then(|| Number::Float(target.real() / other.real())),
            );
            return all;
        }
        (BinaryOp::Div, true) => return both(whole.checked_mul(by)),
        (BinaryOp::Div, false) => return both(by.checked_div(whole)),
        (BinaryOp::Xor, _) => Some(whole ^ by),
        (BinaryOp::Shl, true) => return both(shift.map(|by| whole >> by)),
        (BinaryOp::Shr, true) => return both(shift.and_then(|by| whole.checked_mul(1 << by))),
        _ => Some(whole),
    };
    exact.map(Number::Int).into_iter().collect()
}

/// A number, and the next one.
fn both(number: Option<i128>) -> Vec<Number> {
    number
        .into_iter()
        .flat_map(|number| [number, number.saturating_add(1)])
        .map(Number::Int)
        .collect()
}
