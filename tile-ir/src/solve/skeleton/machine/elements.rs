//! Elements of local arrays, which are in a worker's frame as its variables are.

use super::super::plan::SiteId;
use super::super::value::{Indices, Value};
use super::worker::taint;
use super::{Frame, Machine, Stop};
use crate::arena::EntityId as _;
use crate::kernel::{Access, ArrayRef, ExprId, TileId, Type};
use crate::op::BinaryOp;
use crate::value::ScalarValue;

impl Machine<'_> {
    /// What an element holds: 0 outside. One that loaded data picks is any of them.
    pub(in super::super) fn element(
        &self,
        frame: &Frame,
        access: &Access,
        indices: &Indices,
    ) -> Value {
        let at = indices.iter().map(|index| index.as_index());
        let held = self.plan.locals.element(access.array, at).map(|var| frame[var.index()]);
        let held = held.unwrap_or_else(|| self.zero_of(access.array));
        let data = indices.data();
        match indices.iter().any(|index| index.is_free()) {
            true => held.tainted(data),
            false => held.chosen(data),
        }
    }

    /// A local array begins with one value in all elements: 0, where the text gives none.
    pub(super) fn declare(
        &mut self,
        tile: TileId,
        init: Option<ExprId>,
        frame: &mut Frame,
    ) -> Result<(), Stop> {
        let array = ArrayRef::Tile(tile);
        let value = match init {
            Some(init) => self.eval(frame, init)?,
            None => self.zero_of(array),
        };
        for element in self.plan.locals.all(array) {
            frame[element.index()] = value;
        }
        Ok(())
    }

    /// Sets an element, or changes it by an operator; outside there is none. Where loaded
    /// data picks it, any of them may be the one.
    pub(super) fn set_element(
        &mut self,
        (access, site): (&Access, Option<SiteId>),
        (op, value): (Option<BinaryOp>, ExprId),
        frame: &mut Frame,
    ) -> Result<(), Stop> {
        let indices = self.indices(frame, &access.indices)?;
        let value = self.eval(frame, value)?;
        if let Some(site) = site {
            self.enter(site, &indices, (frame, &access.indices))?;
        }
        if self.plan.holds(access.array) {
            self.hold(access, &indices, (op, value));
            return Ok(());
        }
        let at = indices.iter().map(|index| index.as_index());
        if let Some(element) = self.plan.locals.element(access.array, at) {
            let held = frame[element.index()];
            let ty = Type::Scalar(self.kernel.element_type(access.array));
            frame[element.index()] = op.map_or(value, |op| self.binary(op, ty, held, value));
        }
        let all: Vec<_> = self.plan.locals.all(access.array).collect();
        taint(frame, &all, indices.data());
        Ok(())
    }

    fn zero_of(&self, array: ArrayRef) -> Value {
        let dtype = self.types.elem(self.kernel.element_type(array));
        Value::scalar(ScalarValue { dtype, bits: 0 })
    }
}
