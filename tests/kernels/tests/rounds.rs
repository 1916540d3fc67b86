//! The kernels whose work-items meet in rounds that each counts by numbers of its own, on the
//! CPU device against plain loops.

use tile_kernels::{
    first_turns, grid_rounds, hand_rounds, last_meetings, own_places, shifted_rounds,
};
use tile_runtime::{Device, Options};

const EXTENTS: [usize; 7] = [0, 1, 7, 64, 65, 200, 397];
const TILES: [usize; 6] = [1, 2, 5, 32, 33, 64];

/// Numbers in tiles, filled up with 0.
fn tiles(n: usize, tile: usize) -> Vec<Vec<i32>> {
    let numbers: Vec<i32> = (0..n).map(|i| ((i * 37 + 11) % 101) as i32 - 50).collect();
    let filled = |chunk: &[i32]| (0..tile).map(|i| chunk.get(i).copied().unwrap_or(0)).collect();
    numbers.chunks(tile).map(filled).collect()
}

/// Runs `launch` in every extent and tile, and compares it with what is expected of each
/// tile by its number; of `None` nothing is written.
fn check(
    launch: impl Fn(&Device, &[i32], &mut Vec<i32>, Options),
    expected: impl Fn(usize, &[i32]) -> Option<Vec<i32>>,
) {
    let dev = Device::cpu();
    for n in EXTENTS {
        for tile in TILES {
            let tiles = tiles(n, tile);
            let host: Vec<i32> = tiles.concat().into_iter().take(n).collect();
            let of_tile = |(at, of): (usize, &Vec<i32>)| {
                expected(at, of).unwrap_or_else(|| vec![i32::MIN; tile])
            };
            let all: Vec<i32> = tiles.iter().enumerate().flat_map(of_tile).take(n).collect();
            let mut found = vec![i32::MIN; n];
            launch(&dev, &host, &mut found, Options::new().tile("TN", tile as u32));
            assert_eq!(found, all, "{n} numbers, TN = {tile}");
        }
    }
}

/// How a kernel is launched.
macro_rules! launched {
    ($kernel:ident) => {
        |dev: &Device, host: &[i32], found: &mut Vec<i32>, options: Options| {
            let x = dev.tensor([host.len()], host).unwrap();
            let mut c = dev.tensor([host.len()], found).unwrap();
            $kernel::with(options).launch(&x, &mut c).unwrap();
            *found = c.to_vec().unwrap();
        }
    };
}

fn reversed(tile: &[i32]) -> Vec<i32> {
    tile.iter().rev().copied().collect()
}

#[test]
fn grid_rounds_take_every_tile() {
    check(launched!(grid_rounds), |_, tile| Some(reversed(tile)));
}

#[test]
fn hand_rounds_leave_out_the_fourth() {
    check(launched!(hand_rounds), |at, tile| {
        let round = at / 3;
        let less = reversed(tile).into_iter().map(|x| x - round as i32).collect();
        (round != 3).then_some(less)
    });
}

#[test]
fn own_places_go_from_the_last() {
    check(launched!(own_places), |at, tile| {
        let (len, mut sums) = (tile.len(), reversed(tile));
        for round in (0..4).rev() {
            let next = |at: usize| 3 * sums[at] + sums[(at + 1) % len] + (at + round * len) as i32;
            sums = (0..len).map(next).collect();
        }
        (at % 2 == 0).then_some(sums)
    });
}

#[test]
fn shifted_rounds_end_after_the_fourth() {
    check(launched!(shifted_rounds), |_, tile| {
        let len = tile.len();
        let of = |at: usize, round: usize| {
            let other = (at + round + 1) % len;
            tile[other] + (other + round) as i32
        };
        Some((0..len).map(|at| (0..4).map(|round| of(at, round)).sum()).collect())
    });
}

#[test]
fn first_turns_are_for_all() {
    check(launched!(first_turns), |_, tile| {
        let len = tile.len();
        let of = |at: usize| 3 * tile[(at + 1) % len] + 3 + at as i32;
        let mut sums: Vec<i32> = (0..len).map(of).collect();
        for _ in 0..2 {
            let next = |at: usize| sums[(at + 1) % len];
            let of = |at: usize| if tile[at] > 0 { next(at) } else { -next(at) };
            sums = (0..len).map(|at| sums[at] + of(at)).collect();
        }
        for _ in 0..2 {
            sums = (0..len).map(|at| sums[at] + sums[len - 1 - at]).collect();
        }
        Some(sums)
    });
}

#[test]
fn last_meetings_are_left_one_by_one() {
    check(launched!(last_meetings), |_, tile| {
        let len = tile.len();
        let mut sums = tile.to_vec();
        for turn in 0..3 {
            let is_left = |at: usize| turn == 2 && tile[at] > 0;
            let more = |at: usize| if is_left(at) { 0 } else { turn };
            sums = (0..len).map(|at| sums[at] + sums[(at + 1) % len] + more(at)).collect();
        }
        let alone = |at: usize| if tile[at] > 0 { 0 } else { 3 + 4 + 5 };
        Some((0..len).map(|at| sums[at] + alone(at)).collect())
    });
}
