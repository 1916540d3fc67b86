//! Where values are stored, and what is said of those that a pad can change.

use super::Flow;
use super::state::{Cells, State, add_cells};
use super::value::{Effect, Outside, Value};
use crate::check::poly::Poly;
use crate::diag::{Code, Diagnostic};
use crate::dtype::{Bound, DType};
use crate::kernel::{
    Access, ArrayRef, ElemType, Kernel, Source, TensorId, TileId, VarId, print_access, print_expr,
};
use crate::op::BinaryOp;
use crate::solve::symbolic::Reads;
use crate::span::SpanId;

impl Flow<'_> {
    /// Writes an element; `replaces` where its old value is lost.
    pub(super) fn write(
        &mut self,
        access: &Access,
        value: Value,
        replaces: bool,
        state: &mut State,
    ) {
        let mut value = value.with_control(&self.control);
        for index in &access.indices {
            let of_index = self.value(*index, state);
            value = value.with_control(&of_index);
        }
        let value = value.within(&self.bounds, &self.facts);
        let index: Vec<Poly> = access.indices.iter().map(|id| self.bounds.poly(*id)).collect();
        match access.array {
            ArrayRef::Tensor(tensor) => self.check_store(tensor, &index, &value, access),
            ArrayRef::Tile(tile) => {
                let owners = match &self.points {
                    _ if self.kernel.is_local(access.array) => Vec::new(),
                    Some(points) => points.clone(),
                    None => self.kernel.block.iter().flatten().map(|axis| axis.var).collect(),
                };
                let everywhere = replaces && !self.conditional && self.fills(tile, &index, &owners);
                let cells = state.tiles.entry(tile).or_default();
                if everywhere {
                    cells.clear();
                }
                add_cells(cells, Cells { index, owners, value });
            }
        }
    }

    /// Whether the owners, running over their extents, write each cell.
    fn fills(&mut self, tile: TileId, index: &[Poly], owners: &[VarId]) -> bool {
        let extents = &self.kernel.tiles[tile].extents;
        let mut left = owners.to_vec();
        index.iter().zip(extents).all(|(index, extent)| {
            let extent = self.bounds.poly(*extent);
            let own = left.iter().position(|var| {
                *index == Poly::var(*var) && self.bounds.extent(*var) == Some(&extent)
            });
            own.map(|position| left.remove(position)).is_some()
        })
    }

    fn reads(&self) -> &Reads<'_> {
        self.reads.get_or_init(|| Reads::of(self.kernel, self.uniformity))
    }

    /// Whether a read is proved to be inside along an axis, at all sizes: ever, or where the
    /// store is to which its work-item brings it in the same iterations.
    fn is_inside(&self, read: (Source, usize), effect: &Effect, store: SpanId) -> bool {
        let is_now = !self.loops.iter().any(|head| effect.passed.contains(head));
        let is_own = !effect.handed && is_now;
        self.reads().are_inside(read.0, read.1)
            || is_own && self.reads().are_inside_with(read, store)
    }

    fn check_store(&mut self, tensor: TensorId, index: &[Poly], value: &Value, access: &Access) {
        let extents = self.kernel.tensors[tensor].extents.iter();
        let extents: Vec<Poly> = extents.map(|extent| self.bounds.poly(*extent)).collect();
        for (outside, effect) in &value.under {
            let dropped = index
                .iter()
                .zip(&extents)
                .any(|(index, extent)| outside.implies(&self.bounds, index, extent));
            if dropped {
                continue;
            }
            for read in &effect.loads {
                let is_new = !self.reported.contains(&read.0);
                if is_new && !self.is_inside(*read, effect, access.span) {
                    self.reported.insert(read.0);
                    self.report(outside, *read, effect, access.span);
                }
            }
        }
    }

    /// Says that a read outside along `axis` reaches `store`.
    fn report(
        &mut self,
        outside: &Outside,
        (source, axis): (Source, usize),
        effect: &Effect,
        store: SpanId,
    ) {
        let Some(access) = source.access(self.kernel) else { return };
        let ArrayRef::Tensor(tensor) = access.array else { return };
        let tensor = &self.kernel.tensors[tensor];
        let index = access.indices.get(axis).map(|id| print_expr(self.kernel, *id));
        let extent = tensor.extents.get(axis).map(|id| print_expr(self.kernel, *id));
        let (index, extent) = (index.unwrap_or_default(), extent.unwrap_or_default());
        let range = match outside {
            Outside::Below(_) if !self.reads().are_natural(source, axis) => {
                format!("`{index}` may be negative")
            }
            Outside::Below(_) | Outside::Above(..) => {
                format!("`{index}` may be `{extent}` or more")
            }
        };
        let text = print_access(self.kernel, access);
        let message =
            format!("`{text}` is 0 outside of `{}`, which can change a result", tensor.name);
        let mut diagnostic = Diagnostic::error(Code::PadChangesResult, access.span, message)
            .label(store, "the result is stored here")
            .note(range);
        if let Some(factor) = effect.factor {
            let factor = print_expr(self.kernel, factor);
            diagnostic = diagnostic
                .note(format!("0 times `{factor}` is NaN where `{factor}` is infinite or NaN"));
        }
        self.diags.push(diagnostic.help(
            match suggested_pad(self.kernel, tensor.elem, effect.extremum) {
                Some(pad) => format!(
                    "say what is outside: `#[pad = {pad}] {}: …`, or ask `in_bounds({text})`",
                    tensor.name
                ),
                None => format!("leave it out where `in_bounds({text})` does not hold"),
            },
        ));
    }
}

/// The pad that leaves a `min` or `max` as it is, which only floats have for
/// certain (`MAX` may have been added to before); else 0, written out.
fn suggested_pad(kernel: &Kernel, elem: ElemType, extremum: Option<BinaryOp>) -> Option<String> {
    let is_float = match elem {
        ElemType::Concrete(dtype) => dtype.is_float(),
        ElemType::Param(id) | ElemType::Acc(id) => kernel.type_params[id].bound == Bound::Float,
    };
    let has_numbers = match elem {
        ElemType::Concrete(_) => true,
        ElemType::Param(id) | ElemType::Acc(id) => kernel.type_params[id].bound != Bound::Element,
    };
    let ty = kernel.elem_name(elem);
    match extremum {
        // Of elements of any type no value is known.
        Some(_) | None if !has_numbers => None,
        Some(_) if !is_float => None,
        Some(BinaryOp::Min) => Some(format!("{ty}::INFINITY")),
        Some(BinaryOp::Max) => Some(format!("{ty}::NEG_INFINITY")),
        Some(_) | None if elem == ElemType::Concrete(DType::Bool) => Some("false".to_owned()),
        Some(_) | None => Some("0".to_owned()),
    }
}
