//! The present chunk of a domain's items.

use crate::cpu::code::{Chunking, MAX_AXES};

/// Consecutive items of a domain: whole rows, or one piece of a row.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    /// Number of the first item, in row-major order.
    pub(super) first_item: usize,
    /// Number of rows.
    pub(super) n_rows: usize,
    /// Lanes of each row.
    pub(super) row_lanes: usize,
    /// The axis along which rows run.
    pub(super) row_axis: usize,
    /// Extents of the domain.
    extents: [i64; MAX_AXES],
    /// Coordinates of the first item.
    pub(super) first: [i64; MAX_AXES],
    /// Smallest coordinates.
    pub(super) low: [i64; MAX_AXES],
    /// Largest coordinates, or larger.
    pub(super) high: [i64; MAX_AXES],
}

impl Chunk {
    /// A single lane without coordinates.
    pub(super) const ONE: Self = Self {
        first_item: 0,
        n_rows: 1,
        row_lanes: 1,
        row_axis: 0,
        extents: [1; MAX_AXES],
        first: [0; MAX_AXES],
        low: [0; MAX_AXES],
        high: [0; MAX_AXES],
    };

    /// Number of lanes.
    pub(super) fn n_lanes(&self) -> usize {
        self.n_rows * self.row_lanes
    }

    /// The chunk that begins at `first_item`, which begins a row or a piece.
    pub(super) fn at(domain: &Chunking, first_item: usize) -> Self {
        let mut chunk = Self { first_item, row_axis: domain.row_axis, ..Self::ONE };
        for (extent, &given) in chunk.extents.iter_mut().zip(&domain.extents) {
            *extent = given as i64;
        }
        let row_extent = chunk.extents[domain.row_axis] as usize;
        let (row, column) = (first_item / row_extent, first_item % row_extent);
        let rows_left = domain.n_items / row_extent - row;
        chunk.row_lanes = domain.piece_lanes.min(row_extent - column);
        chunk.n_rows = domain.n_rows.min(rows_left);
        chunk.first = chunk.row_coords(row);
        chunk.low = chunk.first;
        chunk.high = chunk.row_coords(row + chunk.n_rows - 1);
        let outer = 0..chunk.row_axis;
        let parted = outer.clone().find(|&axis| chunk.low[axis] != chunk.high[axis]);
        for axis in parted.map_or(chunk.row_axis, |axis| axis + 1)..chunk.row_axis {
            chunk.low[axis] = 0;
            chunk.high[axis] = chunk.extents[axis] - 1;
        }
        let column = column as i64;
        chunk.first[chunk.row_axis] = column;
        chunk.low[chunk.row_axis] = column;
        chunk.high[chunk.row_axis] = column + chunk.row_lanes as i64 - 1;
        chunk
    }

    /// Whether `coefs` of the coordinates count its lanes.
    pub(super) fn is_run(&self, coefs: &[i64; MAX_AXES]) -> bool {
        let rows_follow = || {
            let mut lanes = self.row_lanes as i64;
            (0..self.row_axis).rev().all(|axis| {
                let follows = self.extents[axis] == 1 || coefs[axis] == lanes;
                lanes *= self.extents[axis];
                follows
            })
        };
        coefs[self.row_axis] == 1 && (self.n_rows == 1 || rows_follow())
    }

    /// Coordinates along the outer axes of a row.
    fn row_coords(&self, row: usize) -> [i64; MAX_AXES] {
        let mut coords = [0; MAX_AXES];
        let mut rest = row as i64;
        for axis in (0..self.row_axis).rev() {
            coords[axis] = rest % self.extents[axis];
            rest /= self.extents[axis];
        }
        coords
    }

    /// Goes to the next row.
    pub(super) fn next_row(&self, coords: &mut [i64; MAX_AXES]) {
        for axis in (0..self.row_axis).rev() {
            coords[axis] += 1;
            if coords[axis] < self.extents[axis] {
                return;
            }
            coords[axis] = 0;
        }
    }
}
