//! Local arrays: an array of each item of the domain that declares it.

use super::Specialiser;
use super::interval::Interval;
use super::stmt::stmt_at;
use crate::kernel;
use crate::lower::LowerError;
use crate::program::{
    Access, AxisGuard, ExprKind, IndexWidth, LoopRange, Scope, Stmt, StmtKind, Target, TileSpace,
    Ty, Unroll, Var,
};
use crate::span::SpanId;

/// Arrays of up to this many elements are filled without a loop in the machine's
/// text, so that they may stay in registers.
const MAX_UNROLLED_ELEMS: u32 = 64;

impl Specialiser<'_> {
    /// Declares an array of the present items, and gives the statements that fill
    /// it with its first value.
    pub(super) fn local_array(
        &mut self,
        tile: kernel::TileId,
        init: Option<kernel::ExprId>,
        span: SpanId,
    ) -> Result<Vec<Stmt>, LowerError> {
        let id = self.declare_tile(tile, TileSpace::Local(self.present))?;
        let Some(init) = init else { return Ok(Vec::new()) };
        let value = self.expr(init)?;
        let (name, extents) =
            (self.b.kernel.tiles[id].name.clone(), self.b.kernel.tiles[id].extents.clone());
        let mut counters = Vec::new();
        let mut indices = Vec::new();
        for &extent in &extents {
            let var = Var { name: format!("{name}_at"), ty: Ty::INDEX32, scope: Scope::Thread };
            let var = self.b.kernel.vars.push(var);
            let range = Interval { min: 0, max: i128::from(extent.max(1)) - 1 };
            let kind = ExprKind::Var(var);
            indices.push(self.b.index_of_width(kind, IndexWidth::Bits32, range));
            counters.push((var, extent));
        }
        let access = Access {
            target: Target::Tile(id),
            slot: None,
            guards: vec![AxisGuard::NONE; indices.len()],
            indices,
            pad: None,
            width: 1,
            aligned_elems: 1,
            agreed: false,
            once: false,
        };
        let elems = extents.iter().try_fold(1u32, |product, &extent| product.checked_mul(extent));
        let unroll = match elems {
            Some(elems) if elems <= MAX_UNROLLED_ELEMS => Unroll::Full,
            Some(_) | None => Unroll::Auto,
        };
        let mut body = stmt_at(StmtKind::Store { access, value }, Scope::Thread, span);
        for (var, extent) in counters.into_iter().rev() {
            let range = LoopRange::Between {
                start: self.index_literal(0),
                end: self.index_literal(extent.into()),
                step: self.index_literal(1),
                reversed: false,
            };
            let kind = StmtKind::For { var, range, unroll, body: vec![body] };
            body = stmt_at(kind, Scope::Thread, span);
        }
        Ok(vec![body])
    }
}
