//! The kernels whose results show a broken rule about carried values, on the CPU
//! device against plain loops; `passes.rs` runs them after every pass.

use tile_kernels::{
    chained_chunks, quotients, reversed_pairs, sliding_sums, stamped_transpose, transpose,
};
use tile_runtime::ir::config::{Config, with_tiles};
use tile_runtime::ir::device::known;
use tile_runtime::{Device, Options};

const SHAPES: [[usize; 2]; 6] = [[1, 1], [5, 3], [7, 40], [33, 17], [0, 4], [4, 0]];
const TILES: [u32; 4] = [1, 4, 16, 33];

/// Small whole numbers: sums of them are exact.
fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 + 11) % 101) as f32 - 50.0).collect()
}

#[test]
fn sliding_sums_keep_the_window() {
    let dev = Device::cpu();
    for [rows, columns] in SHAPES {
        let host = numbers(rows * columns);
        let expected: Vec<f32> = (0..rows * columns)
            .map(|at| {
                let (row, column) = (at / columns, at % columns);
                (column.saturating_sub(3)..=column).map(|c| host[row * columns + c]).sum()
            })
            .collect();
        for tile in TILES {
            let a = dev.tensor([rows, columns], &host).unwrap();
            let mut sums = dev.tensor([rows, columns], &vec![f32::NAN; host.len()]).unwrap();
            let options = Options::new().tile("TR", tile);
            sliding_sums::with(options).launch(&a, &mut sums).unwrap();
            assert_eq!(sums.to_vec().unwrap(), expected, "{rows} x {columns}, TR = {tile}");
        }
    }
}

#[test]
fn chained_chunks_read_what_was_written() {
    let dev = Device::cpu();
    for [rows, columns] in SHAPES {
        let host = numbers(rows * columns);
        for tile in TILES {
            let mut expected = host.clone();
            for at in 0..expected.len() {
                let column = at % columns;
                if column >= tile as usize {
                    expected[at] += expected[at - tile as usize];
                }
            }
            let mut x = dev.tensor([rows, columns], &host).unwrap();
            let options = Options::new().tile("TC", tile);
            chained_chunks::with(options).launch(&mut x).unwrap();
            assert_eq!(x.to_vec().unwrap(), expected, "{rows} x {columns}, TC = {tile}");
        }
    }
}

#[test]
fn reversed_pairs_keep_both_tiles() {
    let dev = Device::cpu();
    for [rows, columns] in SHAPES {
        let host = numbers(rows * columns);
        for tile in TILES.map(|tile| tile as usize) {
            let reversed = |row: usize, chunk: usize, i: usize| {
                let column = chunk * tile + (tile - 1 - i);
                if column < columns { host[row * columns + column] } else { 0.0 }
            };
            let expected: Vec<f32> = (0..rows * columns)
                .map(|at| {
                    let (row, column) = (at / columns, at % columns);
                    let (chunk, i) = (column / tile, column % tile);
                    reversed(row, chunk, i) + reversed(row, chunk, (i + 1) % tile)
                })
                .collect();
            let a = dev.tensor([rows, columns], &host).unwrap();
            let mut b = dev.tensor([rows, columns], &vec![f32::NAN; host.len()]).unwrap();
            let options = Options::new().tile("TC", tile as u32);
            reversed_pairs::with(options).launch(&a, &mut b).unwrap();
            assert_eq!(b.to_vec().unwrap(), expected, "{rows} x {columns}, TC = {tile}");
        }
    }
}

#[test]
fn quotients_are_taken_where_they_exist() {
    let dev = Device::cpu();
    let a: Vec<i32> = vec![7, -7, 5, i32::MIN, 0, 9];
    let b: Vec<i32> = vec![2, 2, 0, -1, 0, -4];
    let expected = vec![3, -3, -1, i32::MIN, -1, -2];
    let [a, b] = [a, b].map(|host| dev.tensor([6], &host).unwrap());
    let mut q = dev.tensor([6], &[99; 6]).unwrap();
    quotients::launch(&a, &b, &mut q).unwrap();
    assert_eq!(q.to_vec().unwrap(), expected);
}

/// Rows that begin anywhere, in all the ways to load and to store them.
#[test]
fn rows_are_stored_by_the_block_that_they_depend_on() {
    let dev = Device::cpu();
    for [rows, columns] in [[33, 17], [71, 45], [130, 37], [64, 64], [1, 9]] {
        let host: Vec<i32> = (0..(rows * columns) as i32).collect();
        for (tr, tc) in [(32, 16), (16, 32)] {
            let expected = |stamp: usize| -> Vec<i32> {
                (0..rows * columns)
                    .map(|at| {
                        let (column, row) = (at / rows, at % rows);
                        host[row * columns + column] + (stamp * (row / tr)) as i32
                    })
                    .collect()
            };
            for (align_bytes, whole_vectors) in [(0, true), (16, false), (32, true)] {
                let a = dev.tensor([rows, columns], &host).unwrap();
                let mut b = dev.tensor([columns, rows], &vec![-1; host.len()]).unwrap();
                let options = |kernel: tile_runtime::Kernel| {
                    let tiles = [("TR", tr as u32), ("TC", tc as u32)];
                    let (checked, types) = (kernel.checked(), kernel.types());
                    let shape = [rows as u64, columns as u64];
                    let config = with_tiles(checked, types, dev.properties(), &shape, &tiles);
                    let config = config.unwrap();
                    Options::new().config(Config { align_bytes, whole_vectors, ..config })
                };
                let case = format!("{rows} x {columns}, {tr} x {tc}, {align_bytes}");
                let stamped = options(stamped_transpose::kernel());
                stamped_transpose::with(stamped).launch(&a, &mut b).unwrap();
                assert_eq!(b.to_vec().unwrap(), expected(100), "{case}");
                let plain = options(transpose::kernel::<i32>());
                transpose::with(plain).launch(&a, &mut b).unwrap();
                assert_eq!(b.to_vec().unwrap(), expected(0), "{case}");
            }
        }
    }
}

/// A tensor that the kernel writes is no constant for the compiler, so that its
/// loads do not take the read-only path.
#[test]
fn only_what_is_never_written_is_read_only() {
    let device = known("H200").expect("the device is in the table");
    let kernel = chained_chunks::kernel::<f32>();
    let config =
        with_tiles(kernel.checked(), kernel.types(), &device, &[64, 64], &[("TC", 32)]).unwrap();
    let text = kernel.cuda_source_for(&config, &device, &[64, 64]).unwrap();
    let params: Vec<&str> = text.lines().filter(|line| line.contains("__restrict__")).collect();
    assert_eq!(params, ["    float* __restrict__ x, // R x C"]);
}
