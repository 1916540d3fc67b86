//! What loaded data makes, as sums of unknowns.
//!
//! `idx[i + 1] = idx[i] + flag[i]` leaves in a cell the flags before it, whatever they are; so
//! does any tree of such additions, once all is run at concrete sizes. An *amount* is such a
//! number: a known one, and some *atoms*, each so many times. An atom is one number that
//! nobody knows: an element of a tensor that nobody writes, what a comparison of amounts says
//! (0 or 1), any other operation on them, or what a variable is after a condition on data has
//! set it, or not. What is known of it is between which numbers it lies. Two values of one
//! amount are equal, and of two others the difference may be seen not to be 0 ([`apart`]). What a
//! condition has chosen is one of two amounts ([`ways`]).
//!
//! # What it rests on
//!
//! - An atom is one number for all who have it: it is made of nothing else than what its
//!   origin says, or it is made anew each time.
//! - Sums are exact: where one might leave its type it is an atom of its own, of that type.
//! - Of what is computed of floats nothing is known: the text around says what is rounded.
//! - Values at which an amount is not known have none; then nothing is told apart by it.

pub(super) mod apart;
mod rows;
pub(super) mod ways;

use std::cell::RefCell;

use super::hash::Map;
use super::terms::Term;
use crate::check::interval::Range;
use crate::dtype::DType;
use crate::kernel::{ArrayRef, ExprId, Type, VarId};
use crate::op::{BinaryOp, CompareOp, LogicOp};
use ways::exact;

/// All that sums are made of, of all of them together, is at most so much.
const MAX_PARTS: usize = 1 << 21;

/// Flags in flags that are asked for, and sums in sums.
const MAX_DEPTH: usize = 3;

/// Between which numbers an index lies: of one that data makes no launch is asked.
const INDEX: Range = (i64::MIN as i128, i64::MAX as i128);

/// An atom's number.
type Atom = u32;

/// An amount: its number, or 0 and the number that it is.
pub(super) type Operand = (Term, i128);

/// Where an atom comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Origin {
    /// What is read at a place of an array that is never written.
    Element(ArrayRef, Vec<i64>),
    /// The same at a place that is known by its amounts.
    ElementAt(ArrayRef, Vec<Sum>),
    /// A variable of the launch or of the grid.
    Launch(VarId),
    /// Any number, made for the first time.
    Fresh(u32),
    /// Whether an amount is more than 0.
    IsMore(Sum),
    /// Whether an amount is 0.
    IsZero(Sum),
    /// A comparison of what are no integers.
    Compare(CompareOp, DType, [Sum; 2]),
    /// A connection of conditions.
    Logic(LogicOp, [Sum; 2]),
    /// Any other operation.
    Binary(BinaryOp, Type, [Sum; 2]),
    /// A conversion.
    Cast(DType, DType, Sum),
    /// By a flag, one of two amounts, which an expression chooses.
    Choice(ExprId, Box<[Sum; 3]>),
    /// What an expression makes of its operands.
    Function(ExprId, Vec<Sum>),
}

/// A number, and atoms, each so many times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Sum {
    constant: i128,
    /// By atom, rising; none 0 times.
    parts: Vec<(Atom, i64)>,
}

impl Sum {
    fn constant(constant: i128) -> Self {
        Self { constant, parts: Vec::new() }
    }

    fn scaled(&self, by: i64) -> Option<Self> {
        if by == 0 {
            return Some(Self::default());
        }
        let parts = self.parts.iter().map(|(atom, times)| Some((*atom, times.checked_mul(by)?)));
        Some(Self {
            constant: self.constant.checked_mul(by.into())?,
            parts: parts.collect::<Option<_>>()?,
        })
    }

    /// `self + by * other`
    fn plus(&self, other: &Self, by: i64) -> Option<Self> {
        let other = other.scaled(by)?;
        let constant = self.constant.checked_add(other.constant)?;
        let mut parts = Vec::with_capacity(self.parts.len() + other.parts.len());
        let (mut left, mut right) = (self.parts.iter().peekable(), other.parts.iter().peekable());
        loop {
            let (part, both) = match (left.peek(), right.peek()) {
                (Some((one, times)), Some((two, more))) if one == two => {
                    ((*one, times.checked_add(*more)?), true)
                }
                (Some(one), Some(two)) if one.0 < two.0 => (**one, false),
                (Some(one), None) => (**one, false),
                (_, Some(two)) => {
                    parts.push(**two);
                    right.next();
                    continue;
                }
                (None, None) => break,
            };
            left.next();
            if both {
                right.next();
            }
            if part.1 != 0 {
                parts.push(part);
            }
        }
        Some(Self { constant, parts })
    }
}

/// The amounts of a run.
#[derive(Debug, Default)]
pub(super) struct Amounts(RefCell<Table>);

#[derive(Debug, Default)]
struct Table {
    /// By number, from 1.
    sums: Vec<Sum>,
    numbers: Map<Sum, Term>,
    /// By atom: where it comes from, and between which numbers it lies.
    atoms: Vec<(Origin, Option<Range>)>,
    by_origin: Map<Origin, Atom>,
    /// Parts of all sums.
    n_parts: usize,
}

impl Table {
    fn sum(&self, (number, value): Operand) -> Sum {
        let known = number.checked_sub(1).and_then(|at| self.sums.get(at as usize));
        known.cloned().unwrap_or_else(|| Sum::constant(value))
    }

    /// The number of a sum; 0 where there are too many.
    fn number(&mut self, sum: Sum) -> Term {
        if let Some(number) = self.numbers.get(&sum) {
            return *number;
        }
        self.n_parts += 1 + sum.parts.len();
        if self.n_parts > MAX_PARTS {
            return 0;
        }
        self.sums.push(sum.clone());
        let number = self.sums.len() as Term;
        self.numbers.insert(sum, number);
        number
    }

    /// The number of an atom's sum, which lies in this range.
    fn atom(&mut self, origin: Origin, range: Option<Range>) -> Term {
        let next = self.atoms.len() as Atom;
        let atom = *self.by_origin.entry(origin.clone()).or_insert(next);
        if atom == next {
            self.atoms.push((origin, range));
        }
        self.number(Sum { constant: 0, parts: vec![(atom, 1)] })
    }

    /// Between which numbers a sum lies, by those of its atoms.
    fn range(&self, sum: &Sum, of: &dyn Fn(Atom) -> Option<Range>) -> Option<Range> {
        let whole = (sum.constant, sum.constant);
        sum.parts.iter().try_fold(whole, |(low, high), (atom, times)| {
            let (least, most) = of(*atom)?;
            let [one, two] = [least, most].map(|end| end.checked_mul((*times).into()));
            let (one, two) = (one?, two?);
            Some((low.checked_add(one.min(two))?, high.checked_add(one.max(two))?))
        })
    }

    fn own_range(&self, sum: &Sum) -> Option<Range> {
        self.range(sum, &|atom| self.atoms.get(atom as usize)?.1)
    }

    /// A sum, if it does not leave a type.
    fn exact(&self, sum: Option<Sum>, ty: Type) -> Option<Sum> {
        let sum = sum?;
        if ty == Type::Index {
            // Of what a launch gives, and of numbers of rounds, a launch is asked.
            let own = |atom: Atom| self.atoms.get(atom as usize).and_then(|(_, range)| *range);
            let of_data = |atom: Atom| Some(own(atom).unwrap_or((0, 0)));
            let (low, high) = self.range(&sum, &of_data)?;
            return (INDEX.0 <= low && high <= INDEX.1).then_some(sum);
        }
        let (min, max) = whole(ty)?;
        let (low, high) = self.own_range(&sum)?;
        (min <= low && high <= max).then_some(sum)
    }

    /// Whether a sum is more than 0, as 0 or 1.
    fn is_more(&mut self, sum: Sum) -> Sum {
        match self.own_range(&sum) {
            Some((1.., _)) => Sum::constant(1),
            Some((_, ..=0)) => Sum::constant(0),
            Some((0, 1)) => sum,
            _ => self.flag(Origin::IsMore(sum)),
        }
    }

    /// Whether a sum is 0, as 0 or 1.
    fn is_zero(&mut self, sum: Sum) -> Sum {
        let negated = sum.scaled(-1);
        match (self.own_range(&sum), negated) {
            (Some((0, 0)), _) => Sum::constant(1),
            (Some((1.., _) | (_, ..=-1)), _) => Sum::constant(0),
            (Some((0, 1)), Some(negated)) => Sum { constant: 1 + negated.constant, ..negated },
            (Some((-1, 0)), _) => Sum { constant: 1 + sum.constant, ..sum },
            // Of a difference and its opposite one is asked.
            (_, Some(negated)) if sum.parts.first().is_some_and(|(_, times)| *times < 0) => {
                self.flag(Origin::IsZero(negated))
            }
            _ => self.flag(Origin::IsZero(sum)),
        }
    }

    /// An atom that is 0 or 1.
    fn flag(&mut self, origin: Origin) -> Sum {
        let number = self.atom(origin, Some((0, 1)));
        self.sum((number, 0))
    }
}

/// 1 less a flag.
fn negated(flag: &Sum) -> Option<Sum> {
    Sum::constant(1).plus(flag, -1)
}

impl Amounts {
    /// What is read at a place of an array that is never written, inside or outside.
    pub(super) fn element(&self, array: ArrayRef, at: Vec<i64>, range: Option<Range>) -> Term {
        self.0.borrow_mut().atom(Origin::Element(array, at), range)
    }

    /// The same at a place that is known by its amounts: who reads there again finds it again.
    pub(super) fn element_at(&self, array: ArrayRef, at: &[Operand], range: Option<Range>) -> Term {
        let mut table = self.0.borrow_mut();
        let at = at.iter().map(|index| table.sum(*index)).collect();
        table.atom(Origin::ElementAt(array, at), range)
    }

    /// A variable of the launch or of the grid.
    pub(super) fn launched(&self, var: VarId) -> Term {
        self.0.borrow_mut().atom(Origin::Launch(var), None)
    }

    /// Any number of this range.
    pub(super) fn fresh(&self, range: Option<Range>) -> Term {
        let mut table = self.0.borrow_mut();
        let next = table.atoms.len() as u32;
        table.atom(Origin::Fresh(next), range)
    }

    /// `lhs op rhs`, where an operator that is not followed gives a number of `range` of
    /// operands in two ranges.
    pub(super) fn binary(
        &self,
        (op, ty): (BinaryOp, Type),
        [lhs, rhs]: [Operand; 2],
        range: impl FnOnce(Range, Range) -> Option<Range>,
    ) -> Term {
        let mut table = self.0.borrow_mut();
        let [lhs, rhs] = [lhs, rhs].map(|operand| table.sum(operand));
        if let Some(sum) = table.exact(exact(op, &lhs, &rhs), ty) {
            return table.number(sum);
        }
        let whole = whole(ty);
        let made = match (table.own_range(&lhs), table.own_range(&rhs)) {
            (Some(one), Some(other)) if is_whole(ty) => range(one, other),
            _ => None,
        };
        let lies_in = |made: &Range| whole.is_none_or(|(min, max)| min <= made.0 && made.1 <= max);
        let range = made.filter(lies_in).or(whole);
        table.atom(Origin::Binary(op, ty, [lhs, rhs]), range)
    }

    /// `lhs op rhs`, as 0 or 1.
    pub(super) fn compare(
        &self,
        op: CompareOp,
        (ty, dtype): (Type, DType),
        [lhs, rhs]: [Operand; 2],
    ) -> Term {
        let mut table = self.0.borrow_mut();
        let [lhs, rhs] = [lhs, rhs].map(|operand| table.sum(operand));
        if !is_whole(ty) {
            let flag = table.flag(Origin::Compare(op, dtype, [lhs, rhs]));
            return table.number(flag);
        }
        let (one, two) = match op {
            CompareOp::Gt | CompareOp::Le | CompareOp::Eq | CompareOp::Ne => (&lhs, &rhs),
            CompareOp::Lt | CompareOp::Ge => (&rhs, &lhs),
        };
        let Some(difference) = one.plus(two, -1) else { return 0 };
        let flag = match op {
            CompareOp::Gt | CompareOp::Lt => Some(table.is_more(difference)),
            CompareOp::Le | CompareOp::Ge => negated(&table.is_more(difference)),
            CompareOp::Eq => Some(table.is_zero(difference)),
            CompareOp::Ne => negated(&table.is_zero(difference)),
        };
        flag.map_or(0, |flag| table.number(flag))
    }

    /// `lhs op rhs` of conditions.
    pub(super) fn logic(&self, op: LogicOp, operands: [Operand; 2]) -> Term {
        let mut table = self.0.borrow_mut();
        let [lhs, rhs] = operands.map(|operand| table.sum(operand));
        let decided = Sum::constant(i128::from(op == LogicOp::Or));
        let flag = match (lhs.parts.is_empty(), rhs.parts.is_empty()) {
            _ if lhs == decided || rhs == decided => decided,
            (true, _) => rhs,
            (_, true) => lhs,
            _ if lhs == rhs => lhs,
            _ => table.flag(Origin::Logic(op, [lhs, rhs])),
        };
        table.number(flag)
    }

    /// `!flag`
    pub(super) fn not(&self, flag: Operand) -> Term {
        let mut table = self.0.borrow_mut();
        let flag = negated(&table.sum(flag));
        flag.map_or(0, |flag| table.number(flag))
    }

    /// One of two values of an expression, by a flag.
    pub(super) fn select(
        &self,
        (expr, ty): (ExprId, Type),
        [flag, then, otherwise]: [Operand; 3],
    ) -> Term {
        let mut table = self.0.borrow_mut();
        let [flag, then, otherwise] = [flag, then, otherwise].map(|operand| table.sum(operand));
        if then == otherwise {
            return table.number(then);
        }
        let by = |by: &Sum| i64::try_from(by.constant).ok().filter(|_| by.parts.is_empty());
        let steps = is_whole(ty).then(|| then.plus(&otherwise, -1)).flatten().as_ref().and_then(by);
        let sum = steps.and_then(|steps| otherwise.plus(&flag, steps));
        if let Some(sum) = table.exact(sum, ty) {
            return table.number(sum);
        }
        let ranges = [&then, &otherwise].map(|case| table.own_range(case));
        let range = match ranges {
            [Some(one), Some(two)] if is_whole(ty) => Some((one.0.min(two.0), one.1.max(two.1))),
            _ => whole(ty),
        };
        table.atom(Origin::Choice(expr, Box::new([flag, then, otherwise])), range)
    }

    /// A conversion.
    pub(super) fn cast(&self, [from, to]: [(Type, DType); 2], of: Operand) -> Term {
        let mut table = self.0.borrow_mut();
        let sum = table.sum(of);
        if is_whole(from.0)
            && let Some(same) = table.exact(Some(sum.clone()), to.0)
        {
            return table.number(same);
        }
        table.atom(Origin::Cast(from.1, to.1, sum), whole(to.0))
    }

    /// What an expression makes of its operands.
    pub(super) fn function(&self, (expr, ty): (ExprId, Type), operands: &[Operand]) -> Term {
        let mut table = self.0.borrow_mut();
        let operands = operands.iter().map(|operand| table.sum(*operand)).collect();
        table.atom(Origin::Function(expr, operands), whole(ty))
    }
}

/// Whether values of a type are integers, or flags.
pub(super) fn is_whole(ty: Type) -> bool {
    ty == Type::Index || whole(ty).is_some()
}

/// Between which numbers the values of a type lie, of integers and flags.
pub(super) fn whole(ty: Type) -> Option<Range> {
    if ty == Type::BOOL { Some((0, 1)) } else { ty.integer_range() }
}
