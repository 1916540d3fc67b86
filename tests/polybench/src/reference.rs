//! What the references have in common.

use tile_examples::frame::{Failure, sample, within};

/// Compares with a reference in `f64`, of which each element may be off by a share
/// `tolerance` of the largest one, and of 1 where all are smaller: where sums cancel, what
/// rounding costs is a share of what was added up.
pub(crate) fn close_to_largest(
    what: &'static str,
    found: &[f32],
    expected: &[f64],
    tolerance: f64,
) -> Result<(), Failure> {
    let largest = expected.iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
    within(what, found, expected, tolerance * largest)
}

/// Compares the rows of a matrix of `cols` columns, or samples of many, with `row_at`.
pub(crate) fn rows_close(
    what: &'static str,
    found: &[f32],
    [rows, cols]: [usize; 2],
    tolerance: f64,
    row_at: impl Fn(usize) -> Vec<f64>,
) -> Result<(), Failure> {
    if found.len() != rows * cols {
        return Err(Failure::Length { what, found: found.len(), expected: rows * cols });
    }
    sample(rows).into_iter().try_for_each(|row| {
        close_to_largest(what, &found[row * cols..][..cols], &row_at(row), tolerance)
    })
}

/// `matrix · x`, the matrix row-major and of so many rows.
pub(crate) fn times(matrix: &[f32], rows: usize, x: &[f64]) -> Vec<f64> {
    let row = |i: usize| matrix[i * x.len()..][..x.len()].iter();
    (0..rows).map(|i| row(i).zip(x).map(|(&a, &x)| f64::from(a) * x).sum()).collect()
}

/// All places of a matrix, row by row.
pub(crate) fn places([rows, cols]: [usize; 2]) -> impl Iterator<Item = (usize, usize)> {
    (0..rows).flat_map(move |row| (0..cols).map(move |col| (row, col)))
}
