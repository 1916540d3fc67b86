//! Conditions on data, by the text that makes them.
//!
//! Of `v > 0.5` nothing is known where `v` is a floating-point number, yet it is one and
//! the same wherever the work-item asks it again of the same `v`. So such a condition is a
//! number, 0 or 1, by its text with the values of variables put in: what is equal there is
//! equal. A variable that may be assigned again has none of its own, and what a kernel
//! writes may be another thing the next time; what a work-item has in a local array is one
//! thing until it writes there again ([`super::super::tiles::own_arrays`]). A variable that is
//! never assigned again stands for the text that it was declared with.

use std::collections::BTreeMap;

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::tiles::own_arrays::OwnCell;
use super::super::walk::{Value, Walk};
use crate::kernel::{Access, ExprId, ExprKind, Literal, VarId, VarKind};

/// Most parts of a text that stands for a variable.
const MAX_TEXT: usize = 32;

/// A part of the text of a condition, or of a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Part {
    Sign(String),
    Value(Poly),
    Cell(OwnCell),
    /// A variable of a work-item, declared for the so many-th time.
    Own(VarId, usize),
}

/// The text of a condition, or of a number.
pub(in super::super) type Text = Vec<Part>;

/// What is known of conditions by their texts.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Named {
    flags: BTreeMap<(Text, Vec<LoopId>), Unknown>,
    /// How often the text has declared a variable, on the way that is walked.
    declared: BTreeMap<VarId, usize>,
    /// What variables that are never assigned again were declared with, where that decides them.
    texts: BTreeMap<VarId, Text>,
}

impl Named {
    /// A variable is declared, and has another value than where it was so before.
    pub(in super::super) fn declare(&mut self, var: VarId) {
        *self.declared.entry(var).or_default() += 1;
        self.texts.remove(&var);
    }
}

impl Walk<'_> {
    /// The flag of the same text as that of another one, with what `translate` makes of values;
    /// so of cells of local arrays.
    pub(in super::super) fn named_again(
        &self,
        flag: Unknown,
        translate: &dyn Fn(&Poly) -> Option<Poly>,
    ) -> Option<Unknown> {
        let flags = &self.named.flags;
        let ((text, _), _) = flags.iter().find(|(_, known)| **known == flag)?;
        let part = |part: &Part| match part {
            Part::Sign(_) | Part::Own(..) => Some(part.clone()),
            Part::Value(value) => translate(value).map(Part::Value),
            Part::Cell(cell) => self.own_arrays.translated(cell, translate).map(Part::Cell),
        };
        let text: Text = text.iter().map(part).collect::<Option<_>>()?;
        flags.iter().find(|((known, _), _)| *known == text).map(|(_, flag)| *flag)
    }

    /// The number that says whether a condition holds; `None` where its text does not tell.
    pub(in super::super) fn named(&mut self, expr: ExprId) -> Option<Value> {
        let mut text = Text::new();
        self.write_text(expr, &mut text)?;
        let mut around = (0..=self.loops.len()).rev().map(|n| self.loops[..n].to_vec());
        let known = around.find_map(|loops| self.named.flags.get(&(text.clone(), loops)).copied());
        let flag = known.unwrap_or_else(|| {
            let uniform = self.uniformity.is_uniform_expr(expr);
            let sharing = if uniform { Sharing::Block } else { Sharing::Private };
            let flag = self.symbol(sharing, Some(0), None);
            let range = Formula::within(&Poly::unknown(flag), &Poly::constant(2));
            self.symbols.add_facts(flag, range);
            self.named.flags.insert((text, self.loops.clone()), flag);
            flag
        });
        let flag = Poly::unknown(flag);
        Some(Value::Cond(Cond { yes: Formula::Zero(flag.plus(-1)), no: Formula::Zero(flag) }))
    }

    /// Notes what a variable is declared with of which no value is known.
    pub(in super::super) fn note_text(&mut self, var: VarId, init: ExprId, value: &Value) {
        let is_fixed = matches!(self.kernel.vars[var].kind, VarKind::Let { mutable: false });
        let mut text = Text::new();
        if is_fixed
            && matches!(value, Value::Other)
            && self.write_text(init, &mut text).is_some()
            && text.len() <= MAX_TEXT
        {
            self.named.texts.insert(var, text);
        }
    }

    /// Writes what an expression is made of; `None` where that does not decide its value.
    pub(in super::super) fn write_text(&mut self, expr: ExprId, out: &mut Text) -> Option<()> {
        let kernel = self.kernel;
        let kind = &kernel.exprs[expr].kind;
        let sign = match kind {
            ExprKind::Literal(literal) => format!("{literal:?}"),
            ExprKind::Var(var) => match self.env.get(var) {
                Some(Value::Int(value)) if !value.is_lost() => {
                    out.push(Part::Value(value.clone()));
                    return Some(());
                }
                Some(Value::Int(_) | Value::Cond(_) | Value::Other) | None => {
                    return self.write_variable(*var, out);
                }
            },
            ExprKind::Load(access) => {
                if kernel.is_local(access.array) {
                    return self.write_cell(access, out);
                }
                if self.is_written(access.array) {
                    return None;
                }
                format!("{:?}", access.array)
            }
            ExprKind::Unary { op, .. } => format!("{op:?}"),
            ExprKind::Binary { op, .. } => format!("{op:?}"),
            ExprKind::Compare { op, .. } => format!("{op:?}"),
            ExprKind::Cast(_) => format!("{:?}", kernel.exprs[expr].ty),
            ExprKind::Math { func, .. } => format!("{func:?}"),
            ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Uniform(_)
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => return None,
        };
        out.push(Part::Sign(sign));
        for operand in kind.operands() {
            self.write_text(operand, out)?;
        }
        out.push(Part::Sign(")".to_owned()));
        Some(())
    }

    /// Writes a variable of which no value is known; `None` where it may be assigned again.
    fn write_variable(&mut self, var: VarId, out: &mut Text) -> Option<()> {
        match self.kernel.vars[var].kind {
            VarKind::Let { mutable: false } => match self.named.texts.get(&var) {
                Some(text) => out.extend(text.iter().cloned()),
                None => {
                    let declared = self.named.declared.get(&var).copied().unwrap_or_default();
                    out.push(Part::Own(var, declared));
                }
            },
            VarKind::Scalar(_) => out.push(Part::Sign(format!("{var:?}"))),
            VarKind::Let { mutable: true }
            | VarKind::Dim
            | VarKind::TileParam(_)
            | VarKind::Grid
            | VarKind::Block
            | VarKind::Each
            | VarKind::Loop => return None,
        }
        Some(())
    }

    /// Whether a text says the same to all work-items of a launch.
    pub(in super::super) fn is_text_of_launch(&self, text: &Text) -> bool {
        text.iter().all(|part| match part {
            Part::Sign(_) => true,
            Part::Value(value) => value.as_constant().is_some() || self.is_of_launch(value),
            Part::Cell(_) | Part::Own(..) => false,
        })
    }

    /// Writes a cell of a local array; `None` where its index is not one value by itself.
    fn write_cell(&mut self, access: &Access, out: &mut Text) -> Option<()> {
        let mut at = Vec::new();
        for index in &access.indices {
            let mut text = Text::new();
            self.write_text(*index, &mut text)?;
            match (text.as_slice(), &self.kernel.exprs[*index].kind) {
                ([Part::Value(value)], _) => at.push(value.clone()),
                (_, ExprKind::Literal(Literal::Int(value))) => at.push(Poly::constant(*value)),
                _ => return None,
            }
        }
        out.push(Part::Cell(self.own_array_cell(access.array, &at)?));
        Some(())
    }
}
