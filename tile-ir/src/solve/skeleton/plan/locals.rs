//! Local arrays of few elements: each element is a variable that no text names.
//!
//! `let mut at: [i32; 4] = [0; 4];` is filled in one loop, and its elements are indices in
//! the next. A worker has its own, so what it has stored it finds again: the elements lie
//! behind the kernel's own variables in its frame.

use std::collections::{BTreeMap, BTreeSet};

use crate::arena::EntityId as _;
use crate::kernel::{ArrayRef, Kernel, Stmt, StmtKind, TileId, VarId, eval_index};

/// Most elements of an array that is followed.
const MAX_ELEMENTS: i64 = 64;

/// The arrays that are followed.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Locals {
    /// By array: the number of its first element among all variables, and its extents.
    first: BTreeMap<TileId, (usize, Vec<i64>)>,
    /// Variables of the kernel, and elements.
    variables: usize,
}

impl Locals {
    /// Those of `kernel` whose extents are numbers; not those that are updated by atomics.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut updated = BTreeSet::new();
        collect_updated(&kernel.body, &mut updated);
        let mut locals = Self { first: BTreeMap::new(), variables: kernel.vars.len() };
        for (id, tile) in kernel.tiles.iter() {
            let array = ArrayRef::Tile(id);
            let extents = tile.extents.iter().map(|extent| eval_index(kernel, *extent, &|_| None));
            let extents: Option<Vec<i64>> =
                extents.map(|extent| i64::try_from(extent?).ok()).collect();
            let is_followed = kernel.is_local(array) && !updated.contains(&array);
            let Some(extents) = extents.filter(|_| is_followed) else { continue };
            let count = extents.iter().try_fold(1_i64, |count, n| count.checked_mul(*n));
            let Some(count @ 1..=MAX_ELEMENTS) = count else { continue };
            locals.first.insert(id, (locals.variables, extents));
            locals.variables += count as usize;
        }
        locals
    }

    /// How many variables a frame has, elements counted.
    pub(in super::super) fn variables(&self) -> usize {
        self.variables
    }

    /// Whether an array's elements are followed.
    pub(in super::super) fn follows(&self, array: ArrayRef) -> bool {
        self.found(array).is_some()
    }

    /// The elements of an array; none where it is not followed.
    pub(in super::super) fn all(&self, array: ArrayRef) -> impl Iterator<Item = VarId> + use<> {
        let range = self.found(array).map_or(0..0, |(first, extents)| {
            let count = extents.iter().product::<i64>() as usize;
            *first..first + count
        });
        range.map(VarId::from_index)
    }

    /// The element at these indices; `None` where they are outside.
    pub(in super::super) fn element(
        &self,
        array: ArrayRef,
        mut indices: impl Iterator<Item = i64>,
    ) -> Option<VarId> {
        let (first, extents) = self.found(array)?;
        let flat = extents.iter().try_fold(0, |flat, extent| {
            let index = indices.next().filter(|index| (0..*extent).contains(index))?;
            Some(flat * extent + index)
        })?;
        Some(VarId::from_index(first + usize::try_from(flat).ok()?))
    }

    fn found(&self, array: ArrayRef) -> Option<&(usize, Vec<i64>)> {
        match array {
            ArrayRef::Tile(tile) => self.first.get(&tile),
            ArrayRef::Tensor(_) => None,
        }
    }
}

/// The arrays that atomics update.
fn collect_updated(stmts: &[Stmt], out: &mut BTreeSet<ArrayRef>) {
    for stmt in stmts {
        if let StmtKind::Atomic { access, .. } = &stmt.kind {
            out.insert(access.array);
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect_updated(body, out));
    }
}
