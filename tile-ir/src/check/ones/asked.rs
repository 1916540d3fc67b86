//! Loops that ask for bits of a word, one in each round.
//!
//! ```text
//! for k in 0..32 { … if (w >> k) & 1 == 1 { … } … }
//! for k in 0..32 { … if w & (1 << (31 - k)) != 0 { … } … }
//! ```
//!
//! The loop runs between literals, and the condition is made of a word, the counter and literals
//! alone. Which bit each round asks for is reckoned round by round. Where no two rounds ask for
//! the same one, and all that may be set are asked for, as many rounds find the condition to hold
//! as the word has ones.

use std::collections::BTreeMap;

use crate::check::interval::literal;
use crate::kernel::{
    Expr, ExprId, ExprKind, Kernel, Literal, LoopRange, Stmt, StmtKind, Type, VarId, VarKind,
    any_stmt, any_subexpr, copy_expr, copy_expr_but, eval_index, eval_index_of, immutable_lets,
};
use crate::op::{BinaryOp, CompareOp, UnaryOp};

/// Most rounds of such a loop.
const MAX_ROUNDS: i128 = 64;

/// Questions for bits of a word, that a loop asks.
pub(super) struct Asked {
    pub(super) counter: VarId,
    /// The bounds, and the numbers that they are.
    pub(super) start: (ExprId, i128),
    pub(super) end: (ExprId, i128),
    pub(super) reversed: bool,
    /// The question.
    cond: ExprId,
    pub(super) question: Question,
    /// Of which word it is asked, and what that is converted from, with how many of the bits are its.
    words: Vec<(ExprId, u32)>,
    /// For which of its bits.
    bits: u128,
    lets: Lets,
}

/// What names stand for.
#[derive(Clone)]
struct Lets {
    /// Those that are given once.
    given: BTreeMap<VarId, ExprId>,
    /// All, where they are declared.
    declared: BTreeMap<VarId, ExprId>,
}

impl Lets {
    fn of(kernel: &Kernel) -> Self {
        let mut declared = BTreeMap::new();
        any_stmt(&kernel.body, &mut |kind| {
            if let StmtKind::Let { var, init: Some(init) } = kind {
                declared.insert(*var, *init);
            }
            false
        });
        Self { given: immutable_lets(&kernel.body, kernel), declared }
    }
}

/// The questions of a kernel's loops.
pub(super) fn asked_in(kernel: &Kernel) -> Vec<Asked> {
    let names = Names { kernel, lets: Lets::of(kernel) };
    let mut out = Vec::new();
    collect(&names, &kernel.body, &mut out);
    out
}

fn collect(names: &Names<'_>, stmts: &[Stmt], out: &mut Vec<Asked>) {
    for stmt in stmts {
        if let StmtKind::For { var, range, body } = &stmt.kind {
            in_loop(names, (*var, *range), body, out);
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect(names, body, out));
    }
}

/// Adds what a loop's rounds ask in some statements.
fn in_loop(
    names: &Names<'_>,
    (counter, range): (VarId, LoopRange),
    stmts: &[Stmt],
    out: &mut Vec<Asked>,
) {
    for stmt in stmts {
        if let StmtKind::If { cond, .. } = stmt.kind {
            out.extend(Asked::of(names, (counter, range), cond));
        }
        stmt.kind.bodies().into_iter().for_each(|body| in_loop(names, (counter, range), body, out));
    }
}

/// Makes questions by masks such by shifts, of which the proof knows more where a number has a
/// sign; whether there is one.
pub(super) fn put_shifts(kernel: &mut Kernel) -> bool {
    let mut is_changed = false;
    for Asked { question, .. } in asked_in(kernel) {
        let Question { compared, word, bit, by_mask: true, .. } = question else { continue };
        let ExprKind::Compare { lhs, rhs, .. } = kernel.exprs[compared].kind else { continue };
        // What a name stands for may have been another number where that was given.
        let [lhs_has, rhs_has] = [lhs, rhs].map(|side| has(kernel, side, word));
        if lhs_has == rhs_has {
            continue;
        }
        let Expr { ty, span, .. } = kernel.exprs[word];
        let [word, bit] = [word, bit].map(|part| copy_expr(kernel, part, &mut |_, _| None));
        let mut push = |kind| kernel.exprs.push(Expr { kind, ty, span });
        let shifted = push(ExprKind::Binary { op: BinaryOp::Shr, lhs: word, rhs: bit });
        let one = push(ExprKind::Literal(Literal::Int(1)));
        let lowest = push(ExprKind::Binary { op: BinaryOp::And, lhs: shifted, rhs: one });
        let with = i128::from(!question.with_none);
        let with = push(ExprKind::Literal(Literal::Int(with)));
        if let ExprKind::Compare { lhs, rhs, .. } = &mut kernel.exprs[compared].kind {
            (*lhs, *rhs) = if lhs_has { (lowest, with) } else { (with, lowest) };
            is_changed = true;
        }
    }
    is_changed
}

/// Whether an expression is a part of another one.
fn has(kernel: &Kernel, expr: ExprId, part: ExprId) -> bool {
    expr == part || kernel.exprs[expr].kind.operands().into_iter().any(|of| has(kernel, of, part))
}

impl Asked {
    fn of(names: &Names<'_>, (counter, range): (VarId, LoopRange), cond: ExprId) -> Option<Self> {
        let LoopRange::Between { start, end, step: None, reversed } = range else { return None };
        let question = names.question(cond)?;
        let Question { word, bit, .. } = question;
        let [start, end] = [start, end]
            .map(|bound| Some((bound, eval_index(names.kernel, names.meant(bound), &|_| None)?)));
        let (start, end) = (start?, end?);
        if end.1.saturating_sub(start.1) > MAX_ROUNDS {
            return None;
        }
        let words = names.converted(word);
        let (_, width) = *words.first()?;
        let mut bits = 0u128;
        for round in start.1..end.1 {
            let bit = names.number(bit, (counter, round))?;
            let one = 1 << u32::try_from(bit).ok().filter(|bit| *bit < width)?;
            if bits & one != 0 {
                return None;
            }
            bits |= one;
        }
        let lets = names.lets.clone();
        Some(Self { counter, start, end, reversed, cond, question, words, bits, lets })
    }

    /// How these questions count the ones of a word, if they do.
    pub(super) fn count(&self, kernel: &Kernel, counted: ExprId) -> Option<Count<'_>> {
        let names = Names { kernel, lets: self.lets.clone() };
        let all = all_bits(kernel.exprs[counted].ty)?;
        let words = self.words.iter().filter(|(_, width)| self.bits >> width == 0);
        words.map(|(word, _)| *word).find_map(|asked| {
            let count = |word, of_set| Some(Count { asked: self, replaced: asked, word, of_set });
            if names.looks_same(counted, asked) {
                return (names.ones(counted) & !self.bits == 0).then(|| count(counted, true))?;
            }
            let stays = |word: ExprId| has(kernel, counted, word) || names.is_fixed(word);
            match kernel.exprs[names.meant(counted)].kind {
                ExprKind::Unary { op: UnaryOp::Not, operand } => {
                    let is_same = names.looks_same(operand, asked) && self.bits == all;
                    (is_same && stays(operand)).then(|| count(operand, false))?
                }
                ExprKind::Binary { op: BinaryOp::And, lhs, rhs } => {
                    let mut sides = [(lhs, rhs), (rhs, lhs)].into_iter();
                    let (word, _) = sides.find(|(word, mask)| {
                        let mask = literal(kernel, names.meant(*mask));
                        let mask = mask.map(|mask| mask as u128 & all);
                        mask == Some(self.bits) && names.looks_same(*word, asked) && stays(*word)
                    })?;
                    count(word, true)
                }
                _ => None,
            }
        })
    }
}

/// How the questions of a loop count the ones of a word.
pub(super) struct Count<'a> {
    pub(super) asked: &'a Asked,
    /// Of whose bits is asked.
    pub(super) word: ExprId,
    /// In the place of what in the loop's question.
    replaced: ExprId,
    /// Whether the bits are counted that are set.
    pub(super) of_set: bool,
}

impl Count<'_> {
    /// The question again, of another word by another counter.
    pub(super) fn condition(&self, kernel: &mut Kernel, names: (VarId, VarId)) -> ExprId {
        self.copy(kernel, self.asked.cond, names)
    }

    fn copy(&self, kernel: &mut Kernel, expr: ExprId, names: (VarId, VarId)) -> ExprId {
        let (word, counter) = names;
        copy_expr_but(kernel, expr, &mut |kernel, part| {
            let mut own = kernel.exprs[part].clone();
            own.kind = match own.kind {
                _ if part == self.replaced => ExprKind::Var(word),
                ExprKind::Var(var) if var == self.asked.counter => ExprKind::Var(counter),
                ExprKind::Var(var) => {
                    let init = *self.asked.lets.given.get(&var)?;
                    return Some(self.copy(kernel, init, names));
                }
                _ => return None,
            };
            Some(kernel.exprs.push(own))
        })
    }
}

/// What a condition asks: whether a bit of a word is set, or whether it is not.
#[derive(Clone, Copy)]
pub(super) struct Question {
    /// The comparison in it.
    compared: ExprId,
    word: ExprId,
    /// The number of the bit.
    bit: ExprId,
    /// Whether the bit stands at its place in the word, and not at that of 1.
    by_mask: bool,
    /// Whether it is compared with 0, and not with what it is where it is set.
    with_none: bool,
    /// Whether the condition holds where it is set.
    pub(super) holds_of_set: bool,
}

/// A bit of a word, by itself.
struct Bit {
    word: ExprId,
    bit: ExprId,
    /// Where it stands at its place in the word, and not at that of 1: the number with this bit
    /// alone.
    mask: Option<ExprId>,
}

/// A kernel's expressions, and what the names in them stand for.
struct Names<'a> {
    kernel: &'a Kernel,
    lets: Lets,
}

impl Names<'_> {
    /// What stands for an expression that is a name.
    fn meant(&self, expr: ExprId) -> ExprId {
        match self.kernel.exprs[expr].kind {
            ExprKind::Var(var) => self.lets.given.get(&var).map_or(expr, |init| self.meant(*init)),
            _ => expr,
        }
    }

    fn is_same(&self, one: ExprId, other: ExprId) -> bool {
        self.kernel.is_same_by(one, other, &|part| self.meant(part))
    }

    /// Whether two words are one, unless a name in them has been given another number.
    fn looks_same(&self, one: ExprId, other: ExprId) -> bool {
        self.kernel.is_same_by(one, other, &|part| self.declared(part))
    }

    fn declared(&self, expr: ExprId) -> ExprId {
        match self.kernel.exprs[expr].kind {
            ExprKind::Var(var) => {
                self.lets.declared.get(&var).map_or(expr, |init| self.declared(*init))
            }
            _ => expr,
        }
    }

    /// Whether a number is the same wherever it stands while its names last.
    fn is_fixed(&self, expr: ExprId) -> bool {
        !any_subexpr(self.kernel, expr, &mut |kind| match kind {
            ExprKind::Var(var) => self.kernel.vars[*var].kind == VarKind::Let { mutable: true },
            ExprKind::Load(_) => true,
            _ => false,
        })
    }

    fn is_number(&self, expr: ExprId, number: i128) -> bool {
        literal(self.kernel, self.meant(expr)) == Some(number)
    }

    fn question(&self, cond: ExprId) -> Option<Question> {
        match self.kernel.exprs[self.meant(cond)].kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                let question = self.question(operand)?;
                Some(Question { holds_of_set: !question.holds_of_set, ..question })
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let question = self.compared(op, lhs, rhs);
                let question = question.or_else(|| self.compared(op.mirrored(), rhs, lhs))?;
                Some(Question { compared: self.meant(cond), ..question })
            }
            _ => None,
        }
    }

    fn compared(&self, op: CompareOp, of: ExprId, with: ExprId) -> Option<Question> {
        let Bit { word, bit, mask } = self.bit(of)?;
        let is_set = match mask {
            Some(mask) => self.is_same(mask, with),
            None => self.is_number(with, 1),
        };
        let is_none = self.is_number(with, 0);
        let is_natural = mask.is_none()
            || self.kernel.exprs[word].ty.integer_range().is_some_and(|(min, _)| min == 0);
        let holds_of_set = match op {
            CompareOp::Eq => is_set,
            CompareOp::Ne => is_none,
            CompareOp::Gt if is_none && is_natural => true,
            _ => return None,
        };
        let question = Question {
            compared: of,
            word,
            bit,
            by_mask: mask.is_some(),
            with_none: is_none,
            holds_of_set,
        };
        (is_set || is_none).then_some(question)
    }

    fn bit(&self, expr: ExprId) -> Option<Bit> {
        match self.kernel.exprs[self.meant(expr)].kind {
            ExprKind::Cast(of) => self.bit(of).filter(|bit| bit.mask.is_none()),
            ExprKind::Binary { op: BinaryOp::And, lhs, rhs } => {
                self.masked(lhs, rhs).or_else(|| self.masked(rhs, lhs))
            }
            _ => None,
        }
    }

    fn masked(&self, of: ExprId, mask: ExprId) -> Option<Bit> {
        let shifted = |expr: ExprId, by: BinaryOp| match self.kernel.exprs[self.meant(expr)].kind {
            ExprKind::Binary { op, lhs, rhs } if op == by => Some((lhs, rhs)),
            _ => None,
        };
        if self.is_number(mask, 1) {
            let (word, bit) = shifted(of, BinaryOp::Shr)?;
            return Some(Bit { word, bit, mask: None });
        }
        let (one, bit) = shifted(mask, BinaryOp::Shl)?;
        self.is_number(one, 1).then_some(Bit { word: of, bit, mask: Some(mask) })
    }

    /// A word, and what it is converted from, with how many of the bits are the same in all up to
    /// that.
    fn converted(&self, mut word: ExprId) -> Vec<(ExprId, u32)> {
        let (mut out, mut least) = (Vec::new(), u32::MAX);
        while let Some(width) = width(self.kernel.exprs[word].ty) {
            least = least.min(width);
            out.push((word, least));
            let ExprKind::Cast(of) = self.kernel.exprs[self.meant(word)].kind else { break };
            word = of;
        }
        out
    }

    /// The number that is made of a counter and literals, where the counter is a number.
    fn number(&self, expr: ExprId, (counter, round): (VarId, i128)) -> Option<i128> {
        eval_index_of(self.kernel, expr, &|leaf| match self.kernel.exprs[leaf].kind {
            ExprKind::Var(var) if var == counter => Some(round),
            ExprKind::Var(var) => self.number(*self.lets.given.get(&var)?, (counter, round)),
            ExprKind::Cast(of) => {
                let number = self.number(of, (counter, round))?;
                (0..=MAX_ROUNDS).contains(&number).then_some(number)
            }
            _ => None,
        })
    }

    /// The bits that may be set in a word, and others.
    fn ones(&self, word: ExprId) -> u128 {
        let word = self.meant(word);
        let node = &self.kernel.exprs[word];
        let all = all_bits(node.ty).unwrap_or(u128::MAX);
        match node.kind {
            ExprKind::Binary { op: BinaryOp::And, lhs, rhs } => self.ones(lhs) & self.ones(rhs),
            ExprKind::Binary { op: BinaryOp::Or | BinaryOp::Xor, lhs, rhs } => {
                self.ones(lhs) | self.ones(rhs)
            }
            ExprKind::Literal(_) => literal(self.kernel, word)
                .and_then(|number| u128::try_from(number).ok())
                .map_or(all, |number| number & all),
            ExprKind::Cast(of) => match self.kernel.exprs[of].ty.integer_range() {
                Some((0, _)) => self.ones(of) & all,
                _ if self.kernel.exprs[of].ty == Type::BOOL => 1,
                _ => all,
            },
            _ => all,
        }
    }
}

/// How many bits a word of a type has.
fn width(ty: Type) -> Option<u32> {
    if ty == Type::Index {
        return Some(64);
    }
    let (min, max) = ty.integer_range()?;
    Some((max - min).count_ones())
}

/// All bits of a word of a type.
fn all_bits(ty: Type) -> Option<u128> {
    Some((1 << width(ty)?) - 1)
}
