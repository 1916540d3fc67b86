//! Amounts of values as they are made ([`super::super::amounts`]).

use std::collections::{BTreeMap, BTreeSet};

use super::super::amounts::apart::{Given, Spot};
use super::super::amounts::{Amounts, Operand, is_whole, whole};
use super::super::plan::Body;
use super::super::terms::Term;
use super::super::value::Value;
use super::reach;
use super::{Frame, Machine};
use crate::arena::EntityId as _;
use crate::check::interval::Range;
use crate::kernel::{
    AccessKind, ArrayRef, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, Type, VarId,
};
use crate::op::{BinaryOp, CompareOp, LogicOp, UnaryOp};

impl Machine<'_> {
    /// The same run, in which amounts are followed.
    pub(in super::super) fn with_amounts(self, are_followed: bool) -> Self {
        if !are_followed {
            return self;
        }
        let assigned = assigned_ranges(self.kernel);
        Self { amounts: Some(Amounts::default()), assigned, ..self }
    }

    /// A value of a type as an amount, if that is known.
    fn operand(value: Value, ty: Type) -> Option<Operand> {
        Some((value.unknown()?, value.number(ty)))
    }

    /// `value`, with the amount that is made of its operands' if they are all known.
    fn with_amount<const N: usize>(
        &self,
        value: Value,
        operands: [(Value, Type); N],
        of: impl FnOnce(&Amounts, [Operand; N]) -> u32,
    ) -> Value {
        let Some(amounts) = self.amounts.as_ref().filter(|_| !value.is_known()) else {
            return value;
        };
        let mut known = [(0, 0); N];
        for (known, (value, ty)) in known.iter_mut().zip(operands) {
            let Some(operand) = Self::operand(value, ty) else { return value };
            *known = operand;
        }
        value.with_term(of(amounts, known))
    }

    pub(in super::super) fn amount_of_binary(
        &self,
        value: Value,
        (op, ty): (BinaryOp, Type),
        [lhs, rhs]: [Value; 2],
    ) -> Value {
        // Of floats it depends on the text around what is rounded.
        if !is_whole(ty) {
            return value;
        }
        self.with_amount(value, [(lhs, ty), (rhs, ty)], |amounts, operands| {
            amounts.binary((op, ty), operands, |one, other| reach::binary(op, one, other))
        })
    }

    pub(in super::super) fn amount_of_unary(
        &self,
        value: Value,
        (op, expr): (UnaryOp, ExprId),
        operand: Value,
    ) -> Value {
        let ty = self.kernel.exprs[expr].ty;
        let zero = (Value::default(), ty);
        match op {
            UnaryOp::Neg if !is_whole(ty) => self.amount_of_function(value, expr, (operand, ty)),
            UnaryOp::Neg => self.amount_of_binary(value, (BinaryOp::Sub, ty), [zero.0, operand]),
            UnaryOp::Not if ty == Type::BOOL => {
                self.with_amount(value, [(operand, ty)], |amounts, [flag]| amounts.not(flag))
            }
            UnaryOp::Not => self.amount_of_function(value, expr, (operand, ty)),
        }
    }

    pub(in super::super) fn amount_of_function(
        &self,
        value: Value,
        expr: ExprId,
        operand: (Value, Type),
    ) -> Value {
        let of = (expr, self.kernel.exprs[expr].ty);
        self.with_amount(value, [operand], |amounts, operands| amounts.function(of, &operands))
    }

    pub(in super::super) fn amount_of_comparison(
        &self,
        value: Value,
        (op, ty): (CompareOp, Type),
        [lhs, rhs]: [Value; 2],
    ) -> Value {
        let dtype = self.types.of_type(ty);
        self.with_amount(value, [(lhs, ty), (rhs, ty)], |amounts, operands| {
            amounts.compare(op, (ty, dtype), operands)
        })
    }

    pub(in super::super) fn amount_of_logic(
        &self,
        value: Value,
        op: LogicOp,
        [lhs, rhs]: [Value; 2],
    ) -> Value {
        let operands = [(lhs, Type::BOOL), (rhs, Type::BOOL)];
        self.with_amount(value, operands, |amounts, operands| amounts.logic(op, operands))
    }

    /// Of `then` and `otherwise` the condition chooses.
    pub(in super::super) fn amount_of_choice(
        &self,
        value: Value,
        expr: ExprId,
        [cond, then, otherwise]: [Value; 3],
    ) -> Value {
        let ty = self.kernel.exprs[expr].ty;
        let operands = [(cond, Type::BOOL), (then, ty), (otherwise, ty)];
        self.with_amount(value, operands, |amounts, operands| amounts.select((expr, ty), operands))
    }

    pub(in super::super) fn amount_of_cast(
        &self,
        value: Value,
        [from, to]: [Type; 2],
        operand: Value,
    ) -> Value {
        let types = [from, to].map(|ty| (ty, self.types.of_type(ty)));
        self.with_amount(value, [(operand, from)], |amounts, [of]| amounts.cast(types, of))
    }

    /// A value that was read in a tensor that nobody writes.
    pub(in super::super) fn amount_of_element(
        &self,
        value: Value,
        (array, ty): (ArrayRef, Type),
        indices: &[Value],
    ) -> Value {
        let Some(amounts) = self.amounts.as_ref().filter(|_| !value.is_known()) else {
            return value;
        };
        if indices.iter().any(|index| !index.is_known()) {
            let at: Option<Vec<Operand>> =
                indices.iter().map(|index| Self::operand(*index, Type::Index)).collect();
            // Who reads it again at a place of which nothing is known is taken to find another
            // number.
            let fresh = || amounts.fresh(whole(ty));
            let again = |at: Vec<Operand>| amounts.element_at(array, &at, whole(ty));
            return value.with_term(at.map_or_else(fresh, again));
        }
        let at = indices.iter().map(|index| index.as_index()).collect();
        value.with_term(amounts.element(array, at, whole(ty)))
    }

    /// After what data decides a work-item has done, or not: what it may have set are new
    /// numbers, each between those that the text sets it to.
    pub(super) fn renew(&self, frame: &mut Frame, assigned: &[VarId]) {
        let Some(amounts) = &self.amounts else { return };
        for var in assigned {
            let value = &mut frame[var.index()];
            if let (Some(_), Some(declared)) = (value.data(), self.kernel.vars.get(*var)) {
                let range = self.assigned.get(var).copied().or(whole(declared.ty));
                *value = value.with_term(amounts.fresh(range));
            }
        }
    }

    /// The amounts of variables after a condition on data: that after the arm
    /// that was taken, or after the other one, as the condition says.
    pub(super) fn joined(
        &self,
        (asked, cond): (ExprId, Value),
        [taken, left]: [&Frame; 2],
        arms: [&Body<'_>; 2],
    ) -> Vec<(VarId, Term)> {
        let Some(amounts) = &self.amounts else { return Vec::new() };
        let assigned: BTreeSet<VarId> =
            arms.iter().flat_map(|arm| arm.assigned.iter().copied()).collect();
        let one_of = |var: VarId| {
            let ty = self.kernel.vars.get(var)?.ty;
            let of = |frame: &Frame| Self::operand(frame[var.index()], ty);
            let (then, otherwise) =
                if cond.is_true() { (of(taken), of(left)) } else { (of(left), of(taken)) };
            let operands = Self::operand(cond, Type::BOOL).zip(then.zip(otherwise));
            let by_cond = operands.map(|(cond, (then, otherwise))| {
                amounts.select((asked, ty), [cond, then, otherwise])
            });
            by_cond.or_else(|| {
                let range = self.assigned.get(&var).copied().or(whole(ty));
                Some(amounts.fresh(range))
            })
        };
        assigned.into_iter().filter_map(|var| Some((var, one_of(var)?))).collect()
    }

    /// Gives variables these amounts, which data has chosen.
    pub(super) fn set_joined(&self, frame: &mut Frame, joined: Vec<(VarId, Term)>) {
        for (var, term) in joined {
            frame[var.index()] = frame[var.index()].with_term(term);
        }
    }

    /// Notes where the block touches the array under watch.
    pub(super) fn note_touched(&mut self, at: &[Value], spot: Option<&Spot>, kind: AccessKind) {
        let (Some(amounts), Some(spot)) = (&self.amounts, spot) else {
            return self.of_block.enter(at, kind);
        };
        // Of one that is never made nothing is touched.
        if let Some(around) = amounts.around(spot) {
            self.of_block.enter_around(around, kind);
        }
    }

    /// An access as amounts tell it from others.
    pub(super) fn spot(&self, indices: &[Value]) -> Option<Spot> {
        self.amounts.as_ref()?;
        let given = self.guards.iter().filter(|guard| guard.amount != 0);
        let given: Vec<Given> = given.map(|guard| ((guard.amount, 0), guard.holds)).collect();
        let indices = indices.iter().map(|index| Self::operand(*index, Type::Index)).collect();
        Some(Spot { indices, given })
    }
}

/// Between which numbers the variables lie that are set to literals alone.
fn assigned_ranges(kernel: &Kernel) -> BTreeMap<VarId, Range> {
    let mut ranges = BTreeMap::new();
    collect_assigned(kernel, &kernel.body, &mut ranges);
    ranges.into_iter().filter_map(|(var, range)| Some((var, range?))).collect()
}

fn collect_assigned(kernel: &Kernel, stmts: &[Stmt], out: &mut BTreeMap<VarId, Option<Range>>) {
    for stmt in stmts {
        let set = match &stmt.kind {
            StmtKind::Let { var, init: Some(value) } | StmtKind::Assign { var, value } => {
                Some((*var, literals(kernel, *value)))
            }
            StmtKind::Let { var, init: None }
            | StmtKind::Update { place: Place::Var(var), .. }
            | StmtKind::Exchange { var, .. }
            | StmtKind::Atomic { old: Some(var), .. } => Some((*var, None)),
            _ => None,
        };
        if let Some((var, range)) = set {
            let both = |one: Range, two: Range| (one.0.min(two.0), one.1.max(two.1));
            let known = out.entry(var).or_insert(range);
            *known = known.zip(range).map(|(one, two)| both(one, two));
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect_assigned(kernel, body, out));
    }
}

/// The least and the greatest of the literals that an expression chooses from.
fn literals(kernel: &Kernel, expr: ExprId) -> Option<Range> {
    match &kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(value)) => Some((*value, *value)),
        ExprKind::Select { then, otherwise, .. } => {
            let (one, two) = (literals(kernel, *then)?, literals(kernel, *otherwise)?);
            Some((one.0.min(two.0), one.1.max(two.1)))
        }
        _ => None,
    }
}
