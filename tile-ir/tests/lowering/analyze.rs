//! Bank conflicts and comparisons of lowered programs, against figures known
//! from CUDA's documentation.

use tile_ir::analyze::banks::{tile_wavefronts, wavefronts};
use tile_ir::program::{TileLayout, print_program};

use crate::support::{Case, add, id, matmul, transpose};

/// A warp's addresses along a column of 4-byte elements in rows of `row_elems`.
fn column(row_elems: u64) -> Vec<Option<u64>> {
    every(row_elems * 4)
}

/// A warp's addresses, so many bytes apart.
fn every(bytes: u64) -> Vec<Option<u64>> {
    (0..32).map(|thread| Some(thread * bytes)).collect()
}

#[test]
fn a_column_of_32_meets_one_bank_and_a_padded_one_all() {
    assert_eq!(wavefronts(&column(32), 4), 32);
    assert_eq!(wavefronts(&column(33), 4), 1);
    assert_eq!(wavefronts(&column(34), 4), 2);
    assert_eq!(wavefronts(&column(48), 4), 16);
}

#[test]
fn rows_and_single_words_have_no_conflict() {
    assert_eq!(wavefronts(&every(4), 4), 1);
    assert_eq!(wavefronts(&[Some(128); 32], 4), 1);
    // Bytes of one word, and 8-byte elements: two words each.
    assert_eq!(wavefronts(&every(1), 1), 1);
    assert_eq!(wavefronts(&every(8), 8), 2);
    assert_eq!(wavefronts(&[], 4), 0);
}

/// As Nsight Compute counts on an H200.
#[test]
fn wide_requests_come_in_halves_and_quarters() {
    let of = |address: fn(u64) -> u64, bytes| {
        let lanes = (0..32).map(|lane| Some(address(lane)));
        wavefronts(&lanes.collect::<Vec<_>>(), bytes)
    };
    // 512 different bytes, and 256.
    assert_eq!(of(|lane| 16 * lane, 16), 4);
    assert_eq!(of(|lane| 8 * lane, 8), 2);
    // Eight vectors, each for four lanes in a row; or for every eighth lane.
    assert_eq!(of(|lane| lane / 4 * 16, 16), 2);
    assert_eq!(of(|lane| lane % 8 * 16, 16), 4);
    // Neighbours along the rows in pairs, then along the columns.
    assert_eq!(of(|lane| (lane & 1 | lane >> 1 & 6) * 16, 16), 2);
    assert_eq!(of(|lane| (lane >> 1 & 1 | lane >> 2 & 6) * 16, 16), 2);
    // All the same.
    assert_eq!(of(|_| 0, 16), 2);
    assert_eq!(of(|_| 0, 8), 1);
    // Half of a warp alone.
    let half: Vec<_> = (0..32).map(|lane| (lane < 16).then_some(16 * lane)).collect();
    assert_eq!(wavefronts(&half, 16), 2);
}

/// The transpose writes its tile along rows and reads it along columns.
#[test]
fn the_tile_of_a_transpose_is_padded_by_one() {
    let mut program = transpose().program();
    let tile = id(0);
    let placed = program.kernels[0].tiles[tile].layout.clone();
    assert_eq!(placed, TileLayout::padded(&[32, 32], 1));
    let mut wavefronts_of = |layout: TileLayout| {
        program.kernels[0].tiles[tile].layout = layout;
        tile_wavefronts(&program.kernels[0], tile)
    };
    // Four passes or one are counted alike in all layouts: the ratio is what counts.
    let padded = wavefronts_of(placed);
    let plain = wavefronts_of(TileLayout::row_major(&[32, 32]));
    assert_eq!(plain * 2, padded * (1 + 32));
}

#[test]
fn whole_tiles_need_no_comparison() {
    for case in [matmul(), transpose(), add()] {
        let compares = |case: &Case| print_program(&case.program()).contains(" < ");
        assert!(compares(&case), "a ragged edge is guarded");
        assert!(!compares(&Case { divisor: 1024, ..case }), "a whole tile is not");
    }
}

/// A divisor that is none of the tile's leaves the comparisons where they are.
#[test]
fn half_tiles_are_compared() {
    let case = Case { divisor: 512, ..add() };
    assert!(print_program(&case.program()).contains("c[i < N"), "the tile is 1024");
}
