//! What is known of variables' values, and what expressions are made of them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::signs::is_unsigned;
use super::{Atom, Poly};
use crate::kernel::{Axis, ExprId, ExprKind, Kernel, Literal, TileDomain, Type, VarId, VarKind};
use crate::op::{BinaryOp, UnaryOp};

/// What is known of variables' values.
#[derive(Debug)]
pub(in super::super) struct Bounds<'a> {
    pub(super) kernel: &'a Kernel,
    /// By variable: its value, where it is one of others' (a `let`, a tie).
    values: BTreeMap<VarId, Poly>,
    /// By variable: what it is below, where it starts at 0.
    pub(super) extents: BTreeMap<VarId, Poly>,
    /// Counters that start elsewhere than at 0 and are never negative, and what
    /// they are below.
    pub(super) natural: BTreeMap<VarId, Poly>,
    /// What was asked since any of those bounds became another, and the answers.
    pub(super) signs: RefCell<BTreeMap<Poly, bool>>,
    unknowns: u32,
}

impl<'a> Bounds<'a> {
    /// Of a kernel's header.
    pub(in super::super) fn new(kernel: &'a Kernel) -> Self {
        let mut bounds = Self {
            kernel,
            values: BTreeMap::new(),
            extents: BTreeMap::new(),
            natural: BTreeMap::new(),
            signs: RefCell::default(),
            unknowns: 0,
        };
        for param in kernel.tile_params.values() {
            if let TileDomain::Equal(value) = param.domain {
                let value = bounds.poly(value);
                bounds.values.insert(param.var, value);
            }
        }
        bounds.enter(&kernel.grid);
        bounds.enter(kernel.block.as_deref().unwrap_or_default());
        bounds
    }

    /// Axes come into force.
    pub(in super::super) fn enter(&mut self, axes: &[Axis]) {
        for axis in axes {
            let extent = self.poly(axis.extent);
            self.enter_counter(axis.var, extent);
        }
    }

    /// A counter from 0 comes into force.
    pub(in super::super) fn enter_counter(&mut self, var: VarId, end: Poly) {
        if self.extents.get(&var) != Some(&end) {
            self.extents.insert(var, end);
            self.signs.get_mut().clear();
        }
    }

    /// A counter from `start`, in steps of whatever size, comes into force.
    pub(in super::super) fn enter_counter_from(&mut self, var: VarId, start: &Poly, end: Poly) {
        if self.is_never_negative(start) && self.natural.get(&var) != Some(&end) {
            self.natural.insert(var, end);
            self.signs.get_mut().clear();
        }
    }

    /// What `var` is below, where it starts at 0.
    pub(in super::super) fn extent(&self, var: VarId) -> Option<&Poly> {
        self.extents.get(&var)
    }

    /// `var` has this value from here on.
    pub(in super::super) fn set(&mut self, var: VarId, value: Poly) {
        self.values.insert(var, value);
    }

    /// Whether something is said of the value of `var`.
    pub(in super::super) fn is_set(&self, var: VarId) -> bool {
        self.values.contains_key(&var)
    }

    /// `var` has another value from here on, not known which.
    pub(in super::super) fn forget(&mut self, var: VarId) {
        let value = self.unknown();
        self.values.insert(var, value);
    }

    /// A value that equals no other.
    pub(in super::super) fn unknown(&mut self) -> Poly {
        self.unknowns += 1;
        Poly::atom(Atom::Unknown(self.unknowns))
    }

    /// The value of an index expression, now.
    pub(in super::super) fn poly(&mut self, id: ExprId) -> Poly {
        match &self.kernel.exprs[id].kind {
            ExprKind::Literal(Literal::Int(value)) => Poly::constant(*value),
            ExprKind::Var(var) => match self.values.get(var) {
                Some(value) => value.clone(),
                None => Poly::var(*var),
            },
            ExprKind::Unary { op: UnaryOp::Neg, operand } => self.poly(*operand).scaled(-1),
            ExprKind::Binary { op, lhs, rhs } => {
                let (lhs, rhs) = (self.poly(*lhs), self.poly(*rhs));
                match op {
                    BinaryOp::Add => lhs.add(&rhs),
                    BinaryOp::Sub => lhs.sub(&rhs),
                    BinaryOp::Mul => lhs.mul(&rhs),
                    BinaryOp::Div
                    | BinaryOp::Rem
                    | BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Xor
                    | BinaryOp::Shl
                    | BinaryOp::Shr
                    | BinaryOp::Min
                    | BinaryOp::Max
                    | BinaryOp::Pow
                    | BinaryOp::Atan2
                    | BinaryOp::Hypot
                    | BinaryOp::Copysign => Poly::atom(Atom::Binary(*op, Box::new((lhs, rhs)))),
                }
            }
            ExprKind::Tiles { extent, tile } => {
                let parts = Box::new((self.poly(*extent), self.poly(*tile)));
                Poly::atom(Atom::Tiles(parts))
            }
            ExprKind::Cast(operand) if self.is_scalar_param(*operand) => self.poly(*operand),
            ExprKind::Uniform(operand) => self.poly(*operand),
            ExprKind::Cast(operand) if self.is_exact(*operand) => {
                let types = [*operand, id].map(|expr| self.kernel.exprs[expr].ty);
                Poly::atom(Atom::Cast(Box::new(self.poly(*operand)), types))
            }
            ExprKind::Cast(operand) if is_unsigned(self.kernel.exprs[*operand].ty) => {
                self.unknowns += 1;
                Poly::atom(Atom::Natural(self.unknowns))
            }
            ExprKind::Literal(_)
            | ExprKind::Cast(_)
            | ExprKind::Unary { op: UnaryOp::Not, .. }
            | ExprKind::Load(_)
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Math { .. }
            | ExprKind::InBounds { .. } => self.unknown(),
        }
    }

    /// Whether what is equal as a polynomial is one value of the expression's type, be it
    /// wrapped: not of sums that are rounded.
    fn is_exact(&self, id: ExprId) -> bool {
        let expr = &self.kernel.exprs[id];
        matches!(expr.kind, ExprKind::Var(_))
            || expr.ty == Type::Index
            || expr.ty.integer_range().is_some()
    }

    /// A scalar parameter converted to an index is one and the same number
    /// everywhere.
    fn is_scalar_param(&self, id: ExprId) -> bool {
        let ExprKind::Var(var) = self.kernel.exprs[id].kind else { return false };
        matches!(self.kernel.vars[var].kind, VarKind::Scalar(_))
    }

    /// Whether an expression is an index, so that [`Bounds::poly`] means something.
    pub(in super::super) fn is_index(&self, id: ExprId) -> bool {
        self.kernel.exprs[id].ty == Type::Index
    }
}
