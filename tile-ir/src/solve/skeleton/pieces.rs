//! Dimensions to run, by how many pieces of a grid or of a loop they are cut into.

use super::literals::largest_literal;
use crate::arena::EntityId as _;
use crate::config::tile_value;
use crate::kernel::{ExprId, ExprKind, Kernel, LoopRange, Stmt, StmtKind, VarId, eval_index};
use crate::op::BinaryOp;

/// How many pieces the dimensions of the grid and of loops are cut into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profile {
    grid: Pieces,
    loops: Pieces,
    /// Whether dimensions that are only extents leave room.
    roomy: bool,
    /// Whether every second dimension is a piece longer than the others: the odd ones in
    /// the order of the text, or the even ones.
    uneven: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Pieces {
    Whole(i64),
    /// One less than so many whole ones.
    Short(i64),
    /// One more.
    Long(i64),
    /// So many whole ones that all literals of the text are inside.
    Beyond,
    /// More whole ones than any literal of the text says, and one's length besides.
    Many,
    /// So few that no piece is whole, of each dimension another number: from so many on up,
    /// by its place among the variables.
    Rising(i64),
    /// The same down.
    Falling(i64),
}

impl Pieces {
    fn of(self, unit: i64, largest: i64, dim: VarId) -> i64 {
        match self {
            Self::Rising(n) => n + dim.index() as i64 % 5,
            Self::Falling(n) => n - dim.index() as i64 % 5,
            Self::Beyond => (largest / unit + 2).saturating_mul(unit),
            Self::Many => largest.saturating_add(unit).saturating_add(2).saturating_mul(unit),
            Self::Whole(n) => unit.saturating_mul(n),
            Self::Short(n) if unit == 1 => n,
            Self::Short(n) => unit.saturating_mul(n) - 1,
            Self::Long(n) => unit.saturating_mul(n).saturating_add(1),
        }
    }
}

impl Profile {
    /// Of whole grids and loops, with room in other dimensions.
    pub(super) const fn even(grid: Pieces, loops: Pieces) -> Self {
        Self { grid, loops, roomy: true, uneven: None }
    }

    /// Those that are run at each of the tile sizes.
    pub(super) const ALL: [Self; 11] = [
        Self::even(Pieces::Whole(2), Pieces::Whole(2)),
        Self::even(Pieces::Whole(2), Pieces::Whole(0)),
        Self::even(Pieces::Rising(3), Pieces::Rising(3)),
        Self::even(Pieces::Falling(7), Pieces::Falling(7)),
        Self::even(Pieces::Short(2), Pieces::Short(1)),
        Self::even(Pieces::Short(3), Pieces::Short(3)),
        Self::even(Pieces::Whole(2), Pieces::Whole(1)),
        Self { roomy: false, ..Self::even(Pieces::Long(1), Pieces::Long(5)) },
        Self { uneven: Some(1), ..Self::even(Pieces::Short(2), Pieces::Long(3)) },
        Self { uneven: Some(0), ..Self::even(Pieces::Short(2), Pieces::Long(3)) },
        Self::even(Pieces::Beyond, Pieces::Whole(2)),
    ];
}

/// What each variable, if a dimension, is used for.
pub(super) struct Roles {
    /// An extent of the grid.
    pub(super) grid: Vec<bool>,
    /// A bound of a loop.
    loops: Vec<bool>,
    /// `tiles(n, t)` around a dimension, or `n / t` in an extent or a bound: `t`; of a
    /// loop that ends by it, its step.
    units: Vec<(VarId, ExprId)>,
    /// The largest literal that an index is likely to meet.
    largest: i64,
}

impl Roles {
    /// Those of a kernel.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let none = vec![false; kernel.vars.len()];
        let largest = largest_literal(kernel);
        let mut roles = Self { grid: none.clone(), loops: none, units: Vec::new(), largest };
        for axis in &kernel.grid {
            variables(kernel, axis.extent, &mut |var| roles.grid[var.index()] = true);
            roles.divided(kernel, axis.extent);
        }
        roles.visit(kernel, &kernel.body);
        for expr in kernel.exprs.values() {
            if let ExprKind::Tiles { extent, tile } = expr.kind {
                variables(kernel, extent, &mut |var| roles.units.push((var, tile)));
            }
        }
        roles
    }

    fn visit(&mut self, kernel: &Kernel, stmts: &[Stmt]) {
        for stmt in stmts {
            if let StmtKind::Phase { range, .. } | StmtKind::For { range, .. } = &stmt.kind {
                for bound in range.exprs() {
                    variables(kernel, bound, &mut |var| self.loops[var.index()] = true);
                    self.divided(kernel, bound);
                }
                if let LoopRange::Between { end, step: Some(step), .. } = *range {
                    variables(kernel, end, &mut |var| self.units.push((var, step)));
                }
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(kernel, body));
        }
    }

    /// Takes the divisors in `expr` for units of what they divide.
    fn divided(&mut self, kernel: &Kernel, expr: ExprId) {
        let kind = &kernel.exprs[expr].kind;
        if let ExprKind::Binary { op: BinaryOp::Div, lhs, rhs } = *kind {
            variables(kernel, lhs, &mut |var| self.units.push((var, rhs)));
        }
        kind.operands().into_iter().for_each(|operand| self.divided(kernel, operand));
    }

    /// A dimension's value at tile sizes.
    pub(super) fn dim(&self, kernel: &Kernel, dim: VarId, tiles: &[u32], profile: Profile) -> i64 {
        let value = |expr| eval_index(kernel, expr, &|var| tile_value(kernel, tiles, var));
        let units = self.units.iter().filter(|(var, _)| *var == dim);
        let units = units.filter_map(|(_, tile)| i64::try_from(value(*tile)?).ok());
        let unit = units.max().unwrap_or(1).max(1);
        // Of the dimensions every second one, in the order of the text.
        let longer = if profile.uneven == Some(dim.index() % 2) { unit } else { 0 };
        let usual = match (self.grid[dim.index()], self.loops[dim.index()]) {
            (true, _) => profile.grid.of(unit, self.largest, dim),
            (false, true) => profile.loops.of(unit, self.largest, dim),
            (false, false) if !profile.roomy => 3,
            (false, false) => room(kernel, dim),
        };
        usual.saturating_add(longer)
    }
}

/// An extent that a tensor of so many axes can have in a table of fair size.
fn room(kernel: &Kernel, dim: VarId) -> i64 {
    let ranks = kernel.tensors.values().filter_map(|tensor| {
        let mut uses = false;
        let mut seen = |var| uses |= var == dim;
        tensor.extents.iter().for_each(|extent| variables(kernel, *extent, &mut seen));
        uses.then_some(tensor.extents.len())
    });
    match ranks.max().unwrap_or(1) {
        0 | 1 => 1024,
        2 => 32,
        _ => 8,
    }
}

/// Says of each variable in an expression that it is there.
pub(super) fn variables(kernel: &Kernel, expr: ExprId, found: &mut dyn FnMut(VarId)) {
    if let ExprKind::Var(var) = kernel.exprs[expr].kind {
        found(var);
    }
    for operand in kernel.exprs[expr].kind.operands() {
        variables(kernel, operand, found);
    }
}
