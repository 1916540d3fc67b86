//! What variables and cells of tiles hold, as the text is followed.

use std::collections::{BTreeMap, BTreeSet};

use super::value::Value;
use crate::check::poly::{Atom, Poly};
use crate::kernel::{TileId, VarId};
use crate::span::SpanId;

/// Most groups of cells that are told apart, of one tile.
const MAX_CELLS: usize = 24;

/// What variables and tiles hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    pub(super) vars: BTreeMap<VarId, Value>,
    pub(super) tiles: BTreeMap<TileId, Vec<Cells>>,
}

/// Cells of a tile that one statement wrote.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cells {
    /// Their indices, over `owners` and what is fixed.
    pub(super) index: Vec<Poly>,
    /// The block axes or point indices that they are written by.
    pub(super) owners: Vec<VarId>,
    pub(super) value: Value,
}

/// Adds cells to those of a tile. Too many of them become one: any of the tile.
pub(super) fn add_cells(cells: &mut Vec<Cells>, new: Cells) {
    let is_like = |own: &&mut Cells| {
        own.index == new.index && own.owners == new.owners && own.value.is_like(&new.value)
    };
    if let Some(own) = cells.iter_mut().find(is_like) {
        own.value.learn_way(&new.value);
        return;
    }
    if cells.len() < MAX_CELLS {
        cells.push(new);
        return;
    }
    let values = cells.iter().map(|cells| &cells.value).chain([&new.value]);
    let value = values.fold(Value::default(), |all, value| all.join(&value.spoil()));
    let owners: BTreeSet<VarId> =
        cells.iter().chain([&new]).flat_map(|cells| cells.owners.iter().copied()).collect();
    let index = new.index.iter().map(|_| Poly::atom(Atom::Any)).collect();
    *cells = vec![Cells { index, owners: owners.into_iter().collect(), value }];
}

impl State {
    pub(super) fn join(&mut self, other: &Self) {
        for (var, value) in &other.vars {
            let joined = self.vars.get(var).map_or_else(|| value.clone(), |own| own.join(value));
            self.vars.insert(*var, joined);
        }
        for (tile, cells) in &other.tiles {
            let own = self.tiles.entry(*tile).or_default();
            cells.iter().for_each(|cell| add_cells(own, cell.clone()));
        }
    }

    /// Another iteration of a loop begins.
    pub(super) fn pass(&mut self, head: SpanId) {
        self.vars.values_mut().for_each(|value| value.pass(head));
        self.tiles.values_mut().flatten().for_each(|cells| cells.value.pass(head));
    }

    /// The state when `var` has moved on.
    pub(super) fn outlive(&mut self, var: VarId) {
        for value in self.vars.values_mut() {
            *value = value.outlive(var);
        }
        let moved = |other: VarId| (other == var).then(|| Poly::atom(Atom::Other(var)));
        for cell in self.tiles.values_mut().flatten() {
            cell.value = cell.value.outlive(var);
            cell.index = cell.index.iter().map(|index| index.replace(&moved)).collect();
        }
    }
}

impl Cells {
    /// What the cell at `read` holds, if it is one of these.
    pub(super) fn value_at(&self, read: &[Poly]) -> Value {
        let mut found: BTreeMap<VarId, Poly> = BTreeMap::new();
        for (index, read) in self.index.iter().zip(read) {
            let owner = self.owners.iter().find(|var| {
                let rest = index.clone().sub(&Poly::var(**var));
                !found.contains_key(*var) && !self.owners.iter().any(|other| rest.mentions(*other))
            });
            if let Some(owner) = owner {
                let rest = index.clone().sub(&Poly::var(*owner));
                found.insert(*owner, read.clone().sub(&rest));
            }
        }
        // Whoever wrote it otherwise is another work-item or point.
        self.value.replace(&|var| {
            let own = self.owners.contains(&var);
            own.then(|| found.get(&var).cloned().unwrap_or_else(|| Poly::atom(Atom::Other(var))))
        })
    }
}
