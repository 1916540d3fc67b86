//! Vector accesses: along consecutive registers, consecutive in memory, and
//! aligned in shared memory. That one to global memory is aligned, lowering
//! answers for.
//!
//! An access of width `w` stands directly in an `Items`, or there under conditions
//! on which the items of a group agree. The lowest digit of the
//! domain's registers counts in steps of 1 along one axis, in whole groups of
//! `w`, and the axis has whole groups. Of the access's indices only that of the
//! array's unit stride depends on the axis, with factor 1.

use std::collections::BTreeMap;

use super::{Place, Verifier};
use crate::kernel::gcd;
use crate::op::BinaryOp;
use crate::program::{
    Access, DomainId, ExprId, ExprKind, Literal, LoopRange, Stmt, StmtKind, Target, VarId,
};

pub(super) fn verify_vectors(cx: &mut Verifier<'_>) {
    let kernel = cx.kernel;
    let mut facts = Facts::default();
    facts.collect(&kernel.body);
    let mut walk = Walk { facts, number: 0 };
    walk.list(cx, &kernel.body, None, false);
}

/// What is known of variables.
#[derive(Default)]
struct Facts {
    /// The only value of each variable that has one.
    values: BTreeMap<VarId, Option<ExprId>>,
    /// First value and step of each counter.
    counters: BTreeMap<VarId, (ExprId, ExprId)>,
}

impl Facts {
    fn collect(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { var, value } => {
                    let other = self.values.insert(*var, *value);
                    if other.is_some_and(|other| other != *value) {
                        self.values.insert(*var, None);
                    }
                }
                StmtKind::Assign { var, .. } | StmtKind::Atomic { old: Some(var), .. } => {
                    self.values.insert(*var, None);
                }
                StmtKind::For { var, range: LoopRange::Between { start, step, .. }, .. } => {
                    self.counters.insert(*var, (*start, *step));
                }
                StmtKind::For { .. }
                | StmtKind::SetFragment { .. }
                | StmtKind::Store { .. }
                | StmtKind::Atomic { .. }
                | StmtKind::Copy { .. }
                | StmtKind::Commit(_)
                | StmtKind::Wait { .. }
                | StmtKind::Assume(_)
                | StmtKind::Items { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Barrier(_)
                | StmtKind::Shuffle { .. }
                | StmtKind::Ballot { .. }
                | StmtKind::WarpBarrier => {}
            }
            stmt.kind.bodies().iter().for_each(|body| self.collect(body));
        }
    }
}

struct Walk {
    facts: Facts,
    number: usize,
}

impl Walk {
    fn list(
        &mut self,
        cx: &mut Verifier<'_>,
        stmts: &[Stmt],
        items: Option<DomainId>,
        is_nested: bool,
    ) {
        for stmt in stmts {
            cx.place = Place::Stmt(self.number);
            self.number += 1;
            match &stmt.kind {
                StmtKind::Store { access, .. } => self.access(cx, access, items, is_nested),
                StmtKind::Copy { dst, src, .. } => {
                    self.access(cx, dst, items, is_nested);
                    self.access(cx, src, items, is_nested);
                }
                StmtKind::Let { .. }
                | StmtKind::Assign { .. }
                | StmtKind::SetFragment { .. }
                | StmtKind::Atomic { .. }
                | StmtKind::Commit(_)
                | StmtKind::Wait { .. }
                | StmtKind::Assume(_)
                | StmtKind::Items { .. }
                | StmtKind::For { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Barrier(_)
                | StmtKind::Shuffle { .. }
                | StmtKind::Ballot { .. }
                | StmtKind::WarpBarrier => {}
            }
            stmt.kind.for_each_expr(&mut |expr| self.expr(cx, expr, items, is_nested));
            for body in stmt.kind.bodies() {
                match stmt.kind {
                    StmtKind::Items { domain, .. } => self.list(cx, body, Some(domain), false),
                    StmtKind::If { cond, .. } if self.is_common(cx, cond, items) => {
                        self.list(cx, body, items, is_nested);
                    }
                    _ => self.list(cx, body, items, true),
                }
            }
        }
    }

    /// Whether the items of a group all take the same arm.
    fn is_common(&self, cx: &Verifier<'_>, cond: ExprId, items: Option<DomainId>) -> bool {
        let lowest = items.and_then(|id| {
            let digit = cx.kernel.domains[id].layout.registers.first()?;
            Some((id, digit.axis))
        });
        lowest.is_some_and(|along| self.factor(cx, cond, along) == Some(0))
    }

    /// The vector reads of an expression. One that is evaluated only where
    /// something holds would be read whole where it does not.
    fn expr(&self, cx: &mut Verifier<'_>, id: ExprId, items: Option<DomainId>, is_nested: bool) {
        let kind = &cx.expr(id).kind;
        let mut of = |operand: &ExprId, is_nested| self.expr(cx, *operand, items, is_nested);
        match kind {
            ExprKind::Load(access) => {
                // A vector read's index is no vector read.
                let is_vector = access.width > 1;
                access.for_each_expr(&mut |operand| of(&operand, is_nested || is_vector));
                self.access(cx, access, items, is_nested);
            }
            ExprKind::Select { cond, then, otherwise } => {
                of(cond, is_nested);
                of(then, true);
                of(otherwise, true);
            }
            ExprKind::Logic { lhs, rhs, .. } => {
                of(lhs, is_nested);
                of(rhs, true);
            }
            ExprKind::Literal(_)
            | ExprKind::Var(_)
            | ExprKind::Arg(_)
            | ExprKind::Coord { .. }
            | ExprKind::Fragment(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Fma { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Cast(_)
            | ExprKind::Math { .. }
            | ExprKind::CeilDiv { .. }
            | ExprKind::InBounds { .. } => {
                kind.for_each_operand(&mut |operand| of(&operand, is_nested))
            }
        }
    }

    fn access(
        &self,
        cx: &mut Verifier<'_>,
        access: &Access,
        items: Option<DomainId>,
        is_nested: bool,
    ) {
        if access.width <= 1 {
            return;
        }
        let fault = match items {
            Some(domain) if !is_nested => self.fault_of(cx, access, domain),
            _ => Some("stands where an item alone may come".to_owned()),
        };
        if let Some(fault) = fault {
            cx.fault(format!("an access of width {} {fault}", access.width));
        }
    }

    /// What is wrong with a vector access by the items of a domain.
    fn fault_of(&self, cx: &Verifier<'_>, access: &Access, id: DomainId) -> Option<String> {
        let domain = &cx.kernel.domains[id];
        let width = u32::from(access.width);
        let (Some(digit), others) = (domain.layout.registers.first(), &domain.layout.registers)
        else {
            return Some("runs along registers; there is one".to_owned());
        };
        let axis = &domain.axes[digit.axis as usize];
        let name = &axis.name;
        if digit.stride != 1 || !digit.size.is_multiple_of(width) {
            let (size, stride) = (digit.size, digit.stride);
            return Some(format!("runs along registers of `{name}`, {size} by {stride}"));
        }
        if !axis.extent.is_multiple_of(width) {
            return Some(format!("runs along `{name}`, whose extent is {}", axis.extent));
        }
        let rest = domain.layout.threads.iter().chain(&others[1..]);
        let mut rest = rest.filter(|other| other.axis == digit.axis && other.size > 1);
        if rest.any(|other| !other.stride.is_multiple_of(width)) {
            return Some(format!("begins at coordinates of `{name}` that are no multiple of it"));
        }
        self.fault_of_indices(cx, access, (id, digit.axis))
    }

    fn fault_of_indices(
        &self,
        cx: &Verifier<'_>,
        access: &Access,
        along: (DomainId, u32),
    ) -> Option<String> {
        let width = i128::from(access.width);
        let mut fastest = 0;
        for (axis, &index) in access.indices.iter().enumerate() {
            let is_unit = match access.target {
                Target::Buffer(id) => {
                    let stride = cx.kernel.buffers[id].strides[axis];
                    cx.expr(stride).kind == ExprKind::Literal(Literal::Int(1))
                }
                Target::Tile(id) => cx.kernel.tiles[id].layout.strides[axis] == 1,
            };
            match self.factor(cx, index, along) {
                Some(0) => {}
                Some(1) if is_unit => fastest += 1,
                _ => return Some(format!("is not consecutive in memory: {}", cx.text(index))),
            }
        }
        if fastest != 1 {
            return Some("is not consecutive in memory".to_owned());
        }
        let Target::Tile(id) = access.target else { return None };
        let tile = &cx.kernel.tiles[id];
        let is_promised = i128::from(access.aligned_elems).rem_euclid(width) == 0;
        for (&index, &stride) in access.indices.iter().zip(&tile.layout.strides) {
            if !is_promised
                && !(self.divisor(cx, index, along) * i128::from(stride)).rem_euclid(width).eq(&0)
            {
                let text = cx.text(index);
                return Some(format!("may not be aligned: {text} by {stride} elements"));
            }
        }
        if tile.buffers > 1 && !i128::from(tile.layout.size_elems).rem_euclid(width).eq(&0) {
            return Some(format!("may not be aligned: a buffer has {}", tile.layout.size_elems));
        }
        let swizzle = tile.layout.swizzle.map(|swizzle| 1i128 << swizzle.shift);
        if swizzle.is_some_and(|moved| moved < width) {
            return Some("is taken apart by the tile's swizzle".to_owned());
        }
        None
    }

    /// By how much an index changes per unit of a coordinate, `None` where that
    /// is not constant.
    fn factor(&self, cx: &Verifier<'_>, id: ExprId, along: (DomainId, u32)) -> Option<i128> {
        let of = |id: ExprId| self.factor(cx, id, along);
        match &cx.expr(id).kind {
            ExprKind::Coord { domain, axis } => Some(i128::from((*domain, *axis) == along)),
            ExprKind::Var(var) => match self.facts.values.get(var) {
                Some(Some(value)) => of(*value),
                Some(None) => match cx.kernel.vars[*var].scope {
                    crate::program::Scope::Block => Some(0),
                    _ => None,
                },
                // A counter, the same for all items.
                None => Some(0),
            },
            ExprKind::Literal(_) | ExprKind::Arg(_) => Some(0),
            ExprKind::Cast(operand) => of(*operand),
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => Some(of(*lhs)? + of(*rhs)?),
            ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } => Some(of(*lhs)? - of(*rhs)?),
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
                let constant = |id| match cx.expr(id).kind {
                    ExprKind::Literal(Literal::Int(value)) => Some(value),
                    _ => None,
                };
                match (of(*lhs)?, of(*rhs)?) {
                    (0, 0) => Some(0),
                    (factor, 0) => factor.checked_mul(constant(*rhs)?),
                    (0, factor) => factor.checked_mul(constant(*lhs)?),
                    _ => None,
                }
            }
            // A register that another item may have set differently.
            ExprKind::Fragment(_) => None,
            kind => {
                let mut is_free = true;
                kind.for_each_operand(&mut |operand| is_free &= of(operand) == Some(0));
                is_free.then_some(0)
            }
        }
    }

    /// A number that divides an index at the first register of each group; 0
    /// where the index is 0.
    fn divisor(&self, cx: &Verifier<'_>, id: ExprId, along: (DomainId, u32)) -> i128 {
        let of = |id: ExprId| self.divisor(cx, id, along);
        match &cx.expr(id).kind {
            ExprKind::Literal(Literal::Int(value)) => value.saturating_abs(),
            // At multiples of every vector's width, as its digits are.
            ExprKind::Coord { domain, axis } if (*domain, *axis) == along => 1 << 8,
            // Of a single point, always 0.
            ExprKind::Coord { domain, axis }
                if cx.kernel.domains[*domain].axes[*axis as usize].extent == 1 =>
            {
                0
            }
            ExprKind::Cast(operand) => of(*operand),
            ExprKind::Var(var) => {
                match (self.facts.values.get(var), self.facts.counters.get(var)) {
                    (Some(Some(value)), _) => of(*value),
                    (None, Some(&(start, step))) => gcd(of(start), of(step)),
                    _ => 1,
                }
            }
            ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Sub, lhs, rhs } => {
                gcd(of(*lhs), of(*rhs))
            }
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => of(*lhs).saturating_mul(of(*rhs)),
            _ => 1,
        }
    }
}
