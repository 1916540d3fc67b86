//! What loads give: elements of local arrays, what the kernel has stored, the pad, or what is
//! made up ([`super::data`]).

use super::data::{self, constant};
use super::machine::{Frame, Machine, Stop};
use super::terms::Origin;
use super::value::{Indices, Value};
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::kernel::{Access, ArrayRef, Edge, ExprId, ExprKind, Source, TensorId, Type, VarId};
use crate::value::ScalarValue;

impl Machine<'_> {
    /// What a load gives; enters it.
    pub(super) fn load(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        access: &Access,
    ) -> Result<Value, Stop> {
        let indices = self.indices(frame, &access.indices)?;
        if self.plan.locals.follows(access.array) {
            if let Some(site) = self.plan.loads[expr.index()] {
                self.enter(site, &indices, (frame, &access.indices))?;
            }
            return Ok(self.element(frame, access, &indices));
        }
        let value = self.made_up(frame, (expr, access), &indices)?;
        if self.plan.holds(access.array)
            && let Some(held) = self.held(access, &indices)
        {
            return Ok(held);
        }
        if self.is_written(access.array) || self.kernel.is_local(access.array) {
            return Ok(value);
        }
        if self.amounts.is_some() {
            let ty = Type::Scalar(self.kernel.element_type(access.array));
            return Ok(self.amount_of_element(value, (access.array, ty), &indices));
        }
        Ok(self.sharing(value, &indices, |parts| Origin::Element(access.array, parts)))
    }

    fn made_up(
        &mut self,
        frame: &Frame,
        (expr, access): (ExprId, &Access),
        indices: &Indices,
    ) -> Result<Value, Stop> {
        if let Some(site) = self.plan.loads[expr.index()] {
            self.enter(site, indices, (frame, &access.indices))?;
        }
        let dtype = self.dtype(expr);
        if let ArrayRef::Tensor(tensor) = access.array
            && self.flat(access.array, indices).is_none()
        {
            // Of elements that are promised to differ, or to rise, nothing else is left to be
            // told by what is made of them.
            let is_promised = self.kernel.promises.iter().any(|known| known.tensor == tensor);
            let is_known =
                self.shares && is_promised && indices.iter().all(|index| index.is_known());
            let (pad, is_literal) = self.pad(tensor, dtype);
            let data = (!is_known || !is_literal).then_some(Source::Load(expr));
            return Ok(pad.tainted(data));
        }
        let mut elements: Vec<i64> = indices.iter().map(|index| index.as_index()).collect();
        if self.kernel.is_local(access.array) {
            // Every worker has its own.
            elements.extend(self.moment().into_iter().take(2).map(i64::from));
        }
        let element = data::Element {
            array: access.array,
            indices: elements,
            interval: if self.is_written(access.array) { self.interval() } else { 0 },
        };
        let known = self.given.filter(|_| element.interval == 0).and_then(|given| {
            // The table has no references for keys.
            given.elements.get(&(element.array, element.indices.clone()))
        });
        let others = self.given.and_then(|given| given.others).filter(|_| element.interval == 0);
        let value = match (known, others, element.indices.last()) {
            (Some(number), _, _) => number.at(dtype),
            (None, Some(others), Some(last)) => others.at(*last).at(dtype),
            _ => self.pool.value(&element, dtype, self.seed),
        };
        let value = Value::scalar(value);
        Ok(value.tainted(Some(Source::Load(expr))))
    }

    /// The old value that an atomic update gives: each one another.
    pub(super) fn old_value(&self, array: ArrayRef, old: VarId) -> Value {
        let element = data::Element {
            array,
            indices: self.moment().map(i64::from).to_vec(),
            interval: self.interval(),
        };
        let dtype = self.types.of_type(self.kernel.vars[old].ty);
        let value = Value::scalar(self.pool.value(&element, dtype, self.seed));
        value.tainted(Some(Source::Old(old)))
    }

    /// What is read outside of a tensor, and whether the text says it.
    pub(super) fn pad(&self, tensor: TensorId, dtype: DType) -> (Value, bool) {
        let zero = Value::scalar(ScalarValue { dtype, bits: 0 });
        match self.kernel.tensors[tensor].edge {
            Edge::DefaultPad => (zero, true),
            Edge::Rule(_) => (zero, false),
            Edge::Pad(value) => match &self.kernel.exprs[value].kind {
                ExprKind::Literal(literal) => (Value::scalar(constant(*literal, dtype)), true),
                ExprKind::Var(_)
                | ExprKind::Load(_)
                | ExprKind::Unary { .. }
                | ExprKind::Binary { .. }
                | ExprKind::Compare { .. }
                | ExprKind::Logic { .. }
                | ExprKind::Select { .. }
                | ExprKind::Cast(_)
                | ExprKind::Uniform(_)
                | ExprKind::Math { .. }
                | ExprKind::Tiles { .. }
                | ExprKind::InBounds { .. } => (zero, false),
            },
        }
    }
}
