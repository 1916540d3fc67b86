//! What elements of local arrays and tiles are set to.

use std::collections::{BTreeMap, BTreeSet};

use super::parts::is_made_by;
use crate::kernel::{ArrayRef, ExprId, Kernel, Place, Stmt, StmtKind};

/// By local array and tile, what its elements are set to; not of those that are changed by
/// atomic updates, or by other operators than bounded expressions are made of.
pub(super) fn held(kernel: &Kernel) -> BTreeMap<ArrayRef, Vec<ExprId>> {
    let mut held: BTreeMap<ArrayRef, Vec<ExprId>> = BTreeMap::new();
    let mut hashed = BTreeSet::new();
    let mut open: Vec<&Stmt> = kernel.body.iter().collect();
    while let Some(stmt) = open.pop() {
        match &stmt.kind {
            StmtKind::LetArray { tile, init: Some(value) } => {
                held.entry(ArrayRef::Tile(*tile)).or_default().push(*value);
            }
            StmtKind::Store { access, value } => {
                held.entry(access.array).or_default().push(*value);
            }
            StmtKind::Update { place: Place::Element(access), op, .. } if !is_made_by(*op) => {
                hashed.insert(access.array);
            }
            StmtKind::Atomic { access, .. } => {
                hashed.insert(access.array);
            }
            _ => {}
        }
        open.extend(stmt.kind.bodies().into_iter().flatten());
    }
    held.retain(|array, _| matches!(array, ArrayRef::Tile(_)) && !hashed.contains(array));
    held
}
