//! Values by what is known where they are used.
//!
//! `let w = 1 << s;` may stand before the condition that keeps `s` small. Where such a
//! value is used, more is known than where it was computed; and what is computed of
//! numbers that never change again is there what it was before. So it is taken for
//! computed where it is used, if something has been asked in between of a scalar
//! parameter that it depends on.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Unknown;
use super::super::walk::{Value, Walk};
use super::integers::is_integer;
use crate::kernel::{ExprId, ExprKind, Type, VarId, VarKind};

/// A value that may be computed later.
#[derive(Clone, Debug)]
struct Late {
    init: ExprId,
    /// The scalar parameters that it depends on.
    scalars: BTreeSet<Unknown>,
    /// What held where its text stands.
    guards: Vec<Formula>,
}

/// The values that may be computed later, by the variables that keep them.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Lates(BTreeMap<VarId, Late>);

impl Walk<'_> {
    /// Notes what is declared, if it may be computed later and is not all known now.
    pub(in super::super) fn note_late(&mut self, var: VarId, init: ExprId, value: &Value) {
        self.lates.0.remove(&var);
        if self.kernel.vars[var].kind != (VarKind::Let { mutable: false })
            || !is_integer(self.type_of(var))
            || !self.is_obscure(value)
        {
            return;
        }
        let mut scalars = BTreeSet::new();
        if self.collect_scalars(init, &mut scalars) && !scalars.is_empty() {
            self.lates.0.insert(var, Late { init, scalars, guards: self.guards.clone() });
        }
    }

    /// Whether something keeps a value from being a sum of plain numbers.
    fn is_obscure(&self, value: &Value) -> bool {
        let Value::Int(poly) = value else { return true };
        let is_obscure = |unknown: Unknown| {
            self.symbols.get(unknown).is_none_or(|symbol| symbol.obstacle.is_some())
        };
        poly.is_lost() || poly.unknowns().any(is_obscure)
    }

    /// Collects the scalar parameters that an expression depends on; `false` where its
    /// value may be another one later.
    fn collect_scalars(&self, expr: ExprId, out: &mut BTreeSet<Unknown>) -> bool {
        let kind = &self.kernel.exprs[expr].kind;
        let is_fixed = match kind {
            ExprKind::Var(var) => self.collect_scalars_of(*var, out),
            // What becomes of a float is another unknown each time that it is asked.
            ExprKind::Cast(of) => {
                let ty = self.kernel.exprs[*of].ty;
                is_integer(ty) || ty == Type::BOOL
            }
            ExprKind::Literal(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Select { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Tiles { .. } => true,
            ExprKind::Load(_)
            | ExprKind::Math { .. }
            | ExprKind::Uniform(_)
            | ExprKind::InBounds { .. } => false,
        };
        is_fixed && kind.operands().into_iter().all(|of| self.collect_scalars(of, out))
    }

    fn collect_scalars_of(&self, var: VarId, out: &mut BTreeSet<Unknown>) -> bool {
        let mut value = BTreeSet::new();
        if let Some(Value::Int(poly)) = self.env.get(&var) {
            value.extend(poly.unknowns());
        }
        match self.kernel.vars[var].kind {
            VarKind::Scalar(_) => out.extend(value),
            VarKind::Let { mutable: false } => {
                out.extend(self.lates.0.get(&var).into_iter().flat_map(|late| &late.scalars));
            }
            VarKind::Let { mutable: true } => return false,
            VarKind::Dim
            | VarKind::TileParam(_)
            | VarKind::Grid
            | VarKind::Block
            | VarKind::Each
            | VarKind::Loop => {}
        }
        true
    }

    /// The value of a variable, computed here, if more is known here of what it depends
    /// on than where it was declared.
    pub(in super::super) fn computed_here(&mut self, var: VarId) -> Option<Value> {
        let late = self.lates.0.get(&var)?;
        let tells = |guard: &Formula| {
            let mut unknowns = Vec::new();
            guard.collect_unknowns(&mut unknowns);
            unknowns.iter().any(|unknown| late.scalars.contains(unknown))
                && !late.guards.contains(guard)
        };
        if !self.guards.iter().any(tells) {
            return None;
        }
        let init = late.init;
        Some(self.value(init))
    }
}
