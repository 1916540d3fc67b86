//! The kernels whose barriers stand in control flow that takes thought, on the
//! CPU device against plain loops.

use tile_kernels::{
    agreed_values, early_exits, idle_conditions, joint_exits, named_places, reused_counter,
    settled, steps_to_one,
};
use tile_runtime::{Device, Options};

const EXTENTS: [usize; 6] = [0, 1, 7, 64, 65, 200];
const TILES: [usize; 5] = [1, 2, 5, 32, 64];

/// Tiles of `n` numbers, filled up with 0.
fn tiles(n: usize, tile: usize) -> Vec<Vec<i32>> {
    let numbers: Vec<i32> = (0..n).map(|i| ((i * 37 + 11) % 101) as i32 - 50).collect();
    let filled = |chunk: &[i32]| (0..tile).map(|i| chunk.get(i).copied().unwrap_or(0)).collect();
    numbers.chunks(tile).map(filled).collect()
}

/// What a kernel makes of each tile's numbers.
fn check(run: impl Fn(&Device, &[i32], usize) -> Vec<i32>, expected: impl Fn(&[i32]) -> Vec<i32>) {
    let dev = Device::cpu();
    for n in EXTENTS {
        for tile in TILES {
            let tiles = tiles(n, tile);
            let host: Vec<i32> = tiles.concat().into_iter().take(n).collect();
            let all: Vec<i32> = tiles.iter().flat_map(|tile| expected(tile)).take(n).collect();
            assert_eq!(run(&dev, &host, tile), all, "{n} numbers, TN = {tile}");
        }
    }
}

#[test]
fn reused_counter_counts_for_the_block() {
    let run = |dev: &Device, host: &[i32], tile: usize| {
        let x = dev.tensor([host.len()], host).unwrap();
        let mut c = dev.tensor([host.len()], &vec![i32::MIN; host.len()]).unwrap();
        let options = Options::new().tile("TN", tile as u32);
        reused_counter::with(options).launch(&x, &mut c).unwrap();
        c.to_vec().unwrap()
    };
    check(run, |tile| {
        let len = tile.len();
        let mut sums: Vec<i32> = tile.iter().rev().copied().collect();
        for k in [3, 2, 1] {
            sums = (0..len).map(|at| sums[at] + sums[(at + k) % len]).collect();
        }
        sums.iter().zip(0..).map(|(sum, at)| sum + at).collect()
    });
}

#[test]
fn idle_conditions_hold_for_the_block() {
    let run = |dev: &Device, host: &[i32], tile: usize| {
        let x = dev.tensor([host.len()], host).unwrap();
        let mut c = dev.tensor([host.len()], &vec![i32::MIN; host.len()]).unwrap();
        let options = Options::new().tile("TN", tile as u32);
        idle_conditions::with(options).launch(&x, &mut c).unwrap();
        c.to_vec().unwrap()
    };
    check(run, |tile| tile.iter().rev().copied().collect());
}

#[test]
fn early_exits_end_one_work_item() {
    let run = |dev: &Device, host: &[i32], tile: usize| {
        let x = dev.tensor([host.len()], host).unwrap();
        let mut c = dev.tensor([host.len()], &vec![i32::MIN; host.len()]).unwrap();
        let options = Options::new().tile("TN", tile as u32);
        early_exits::with(options).launch(&x, &mut c).unwrap();
        c.to_vec().unwrap()
    };
    check(run, |tile| {
        let of = |before: &[i32]| {
            let kept = before.iter().take_while(|y| **y <= 40);
            let returns = kept.clone().any(|y| *y == 13);
            if returns { i32::MIN } else { kept.filter(|y| *y % 3 != 0).sum() }
        };
        (0..tile.len()).map(|at| of(&tile[..at])).collect()
    });
}

#[test]
fn named_places_are_the_blocks() {
    let run = |dev: &Device, host: &[i32], tile: usize| {
        let x = dev.tensor([host.len()], host).unwrap();
        let mut c = dev.tensor([host.len()], &vec![i32::MIN; host.len()]).unwrap();
        let options = Options::new().tile("TN", tile as u32);
        named_places::with(options).launch(&x, &mut c).unwrap();
        c.to_vec().unwrap()
    };
    check(run, |tile| {
        let (len, total) = (tile.len(), tile.iter().sum::<i32>());
        let turned = |at: usize, turn: usize| tile[(len - 1 - at + turn) % len] + total;
        (0..len).map(|at| turned(at, 0) + turned(at, len - 1)).collect()
    });
}

#[test]
fn joint_exits_end_a_block() {
    let run = |dev: &Device, host: &[i32], tile: usize| {
        let x = dev.tensor([host.len()], host).unwrap();
        let mut c = dev.tensor([host.len()], &vec![i32::MIN; host.len()]).unwrap();
        let options = Options::new().tile("TN", tile as u32);
        joint_exits::with(options).launch(&x, &mut c).unwrap();
        c.to_vec().unwrap()
    };
    check(run, |tile| {
        let len = tile.len();
        let mut sums = tile.to_vec();
        for _ in 0..6 {
            if sums[0] > 40 {
                break;
            }
            if sums[0] + sums[len - 1] == 13 {
                return vec![i32::MIN; len];
            }
            sums = (0..len).map(|at| sums[at] + sums[(at + 1) % len]).collect();
        }
        sums
    });
}

#[test]
fn agreed_values_are_the_blocks() {
    let run = |dev: &Device, host: &[i32], tile: usize| {
        let x = dev.tensor([host.len()], host).unwrap();
        let mut c = dev.tensor([host.len()], &vec![i32::MIN; host.len()]).unwrap();
        let options = Options::new().tile("TN", tile as u32);
        agreed_values::with(options).launch(&x, &mut c).unwrap();
        c.to_vec().unwrap()
    };
    check(run, |tile| {
        let mut numbers = tile.to_vec();
        while numbers[0] > 20 {
            numbers.iter_mut().for_each(|number| *number /= 2);
        }
        let last = numbers[numbers.len() - 1];
        if last % 2 != 0 {
            numbers.iter().rev().copied().collect()
        } else {
            numbers.iter().map(|number| number.wrapping_add(last)).collect()
        }
    });
}

#[test]
fn endless_loops_end_for_each_work_item() {
    let dev = Device::cpu();
    let x: Vec<i32> = (-3..200).collect();
    let expected: Vec<i32> = x
        .iter()
        .map(|&x| {
            let next = |&n: &i32| (n > 1).then(|| if n % 2 == 0 { n / 2 } else { 3 * n + 1 });
            std::iter::successors(Some(x), next).skip(1).take(99).count() as i32
        })
        .collect();
    let n = x.len();
    let x = dev.tensor([n], &x).unwrap();
    for tile in TILES {
        let mut c = dev.tensor([n], &vec![i32::MIN; n]).unwrap();
        let options = Options::new().tile("TN", tile as u32);
        steps_to_one::with(options).launch(&x, &mut c).unwrap();
        assert_eq!(c.to_vec().unwrap(), expected, "TN = {tile}");
    }
}

#[test]
fn endless_loops_end_for_the_block() {
    let run = |dev: &Device, host: &[i32], tile: usize| {
        let x = dev.tensor([host.len()], host).unwrap();
        let mut c = dev.tensor([host.len()], &vec![i32::MIN; host.len()]).unwrap();
        settled::with(Options::new().tile("TN", tile as u32)).launch(&x, &mut c).unwrap();
        c.to_vec().unwrap()
    };
    let dev = Device::cpu();
    for n in EXTENTS {
        for tile in TILES {
            let host: Vec<i32> = tiles(n, tile).concat().into_iter().take(n).collect();
            let mut expected = host.clone();
            expected.chunks_mut(tile).for_each(<[i32]>::sort_unstable);
            assert_eq!(run(&dev, &host, tile), expected, "{n} numbers, TN = {tile}");
        }
    }
}
