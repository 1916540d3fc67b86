//! Bank conflicts and comparisons of lowered programs, against figures known
//! from CUDA's documentation.

use tile_ir::analyze::banks::{tile_wavefronts, wavefronts};
use tile_ir::program::{TileLayout, print_program};

use crate::support::{Case, add, id, matmul, transpose};

/// A warp's addresses along a column of 4-byte elements in rows of `row_elems`.
fn column(row_elems: u64) -> Vec<u64> {
    (0..32).map(|thread| thread * row_elems * 4).collect()
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
    let row: Vec<u64> = (0..32).map(|thread| thread * 4).collect();
    assert_eq!(wavefronts(&row, 4), 1);
    assert_eq!(wavefronts(&[128; 32], 4), 1);
    // Bytes of one word, and 8-byte elements: two words each.
    assert_eq!(wavefronts(&(0..32).collect::<Vec<u64>>(), 1), 1);
    assert_eq!(wavefronts(&(0..32).map(|thread| thread * 8).collect::<Vec<u64>>(), 8), 2);
    assert_eq!(wavefronts(&[], 4), 0);
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
