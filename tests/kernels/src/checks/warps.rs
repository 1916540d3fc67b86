//! Checks of the kernels whose warps work together.

use tile_runtime::Number;

use super::{Setup, Verdict, close, equal};
use crate::number::Reference;
use crate::row_sum_at;

/// The sums of the rows of `[rows, cols]`.
///
/// # Errors
///
/// Where the launch fails or an element is off by more than rounding.
pub fn check_warp_totals<T: Reference>(setup: &Setup, [rows, cols]: [usize; 2]) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<T> = (0..rows * cols).map(|_| T::random(&mut rng)).collect();
    let device_a = setup.device.tensor([rows, cols], &a)?;
    let mut sums = setup.device.tensor([rows], &vec![T::poison(); rows])?;
    crate::warp_totals::with(setup.options.clone()).launch(&device_a, &mut sums)?;
    for (row, value) in sums.to_vec()?.into_iter().enumerate() {
        close(value, &row_sum_at(&a, cols, row), &[row])?;
    }
    Ok(())
}

/// Shuffles of `blocks` blocks of values, each given by a number.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_neighbours<T>(setup: &Setup, blocks: usize, value: impl Fn(u32) -> T) -> Verdict
where
    T: Number + Copy + PartialEq + std::fmt::Debug,
{
    const ITEMS: usize = 50;
    let n = blocks * ITEMS;
    let mut rng = setup.rng();
    let a: Vec<T> = (0..n).map(|_| value(rng.u32(..))).collect();
    let from: Vec<i32> = (0..n).map(|_| rng.i32(-3..40)).collect();
    let (device_from, device_a) = (setup.device.tensor([n], &from)?, setup.device.tensor([n], &a)?);
    let blank = vec![value(0); n];
    let mut out = Vec::new();
    for _ in 0..4 {
        out.push(setup.device.tensor([n], &blank)?);
    }
    let [down, up, flipped, named] = &mut out[..] else { unreachable!("four tensors were made") };
    crate::neighbours::with(setup.options.clone()).launch(
        &device_from,
        &device_a,
        down,
        up,
        flipped,
        named,
    )?;
    let wanted = |i: usize, lane: &dyn Fn(i64) -> i64| {
        let item = i % ITEMS;
        let (first, own) = (item / 32 * 32, item % 32);
        let present = 32.min(ITEMS - first) as i64;
        let lane = lane(own as i64);
        let lane = if (0..present).contains(&lane) { lane as usize } else { own };
        a[i - item + first + lane]
    };
    equal(&down.to_vec()?, &[n], |i| wanted(i, &|own| own + 3))?;
    equal(&up.to_vec()?, &[n], |i| wanted(i, &|own| own - 2))?;
    equal(&flipped.to_vec()?, &[n], |i| wanted(i, &|own| own ^ 5))?;
    equal(&named.to_vec()?, &[n], |i| wanted(i, &|_| from[i].into()))
}

/// Votes of `n` values in blocks of 40.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_votes(setup: &Setup, n: usize) -> Verdict {
    const ITEMS: usize = 40;
    let mut rng = setup.rng();
    let even = rng.bool();
    let a: Vec<i32> = (0..n)
        .map(|i| if i < ITEMS && even { 2 * rng.i32(0..9) } else { rng.i32(-99..99) })
        .collect();
    let device_a = setup.device.tensor([n], &a)?;
    let mut bits = setup.device.tensor([n], &vec![77u32; n])?;
    let mut counts = [(); 3].map(|()| setup.device.tensor([n], &vec![-1i32; n]));
    let [Ok(found), Ok(least), Ok(most)] = &mut counts else {
        unreachable!("a tensor of {n} numbers fits")
    };
    let mut alike = setup.device.tensor([n], &vec![false; n])?;
    crate::votes::with(setup.options.clone())
        .launch(&device_a, &mut bits, found, least, most, &mut alike)?;
    // What is outside of the tensor is 0 and takes part.
    let warp = |i: usize| {
        let first = i / ITEMS * ITEMS + i % ITEMS / 32 * 32;
        let end = (i / ITEMS + 1) * ITEMS;
        (first..end.min(first + 32)).map(|at| a.get(at).copied().unwrap_or(0)).collect::<Vec<_>>()
    };
    let odd = |i: usize| warp(i).into_iter().filter(|value| value & 1 == 1).count();
    equal(&bits.to_vec()?, &[n], |i| {
        warp(i)
            .iter()
            .enumerate()
            .fold(0, |bits, (lane, value)| bits | ((value & 1) as u32) << lane)
    })?;
    equal(&found.to_vec()?, &[n], |i| odd(i) as i32)?;
    let extreme = |i: usize, of: Option<i32>| if odd(i) > 0 { of.unwrap_or(0) } else { a[i] };
    equal(&least.to_vec()?, &[n], |i| extreme(i, warp(i).into_iter().min()))?;
    equal(&most.to_vec()?, &[n], |i| extreme(i, warp(i).into_iter().max()))?;
    equal(&alike.to_vec()?, &[n], |i| odd(i) == 0 || odd(i) == warp(i).len())
}

/// Running sums of runs of 32 in the rows of `[rows, cols]`; some rows stop early.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_warp_scans(setup: &Setup, [rows, cols]: [usize; 2]) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<i32> = (0..rows * cols).map(|_| rng.i32(..)).collect();
    let rounds: Vec<i32> = (0..rows).map(|_| rng.i32(0..6)).collect();
    let device_rounds = setup.device.tensor([rows], &rounds)?;
    let device_a = setup.device.tensor([rows, cols], &a)?;
    let mut running = setup.device.tensor([rows, cols], &vec![-1; rows * cols])?;
    crate::warp_scans::with(setup.options.clone()).launch(
        &device_rounds,
        &device_a,
        &mut running,
    )?;
    equal(&running.to_vec()?, &[rows, cols], |at| {
        let (row, col) = (at / cols, at % cols);
        let reach = 1 << rounds[row];
        let first = (col / 32 * 32).max((col + 1).saturating_sub(reach));
        (first..=col).fold(0, |sum: i32, col| sum.wrapping_add(a[row * cols + col]))
    })
}

/// The sums of 64 values each, of `blocks` blocks.
///
/// # Errors
///
/// Where the launch fails or a sum is wrong.
pub fn check_tree_sums(setup: &Setup, blocks: usize) -> Verdict {
    const ITEMS: usize = 64;
    let n = blocks * ITEMS;
    let mut rng = setup.rng();
    let a: Vec<i32> = (0..n).map(|_| rng.i32(..)).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let mut sums = setup.device.tensor([blocks], &vec![-1; blocks])?;
    crate::tree_sums::with(setup.options.clone()).launch(&device_a, &mut sums)?;
    equal(&sums.to_vec()?, &[blocks], |block| {
        a[block * ITEMS..][..ITEMS].iter().fold(0, |sum: i32, value| sum.wrapping_add(*value))
    })
}

/// Rounds of `rows` warps that end together.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_lone_rounds(setup: &Setup, rows: usize) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<u32> = (0..rows * 32).map(|_| rng.u32(0..200)).collect();
    let device_a = setup.device.tensor([rows, 32], &a)?;
    let mut ends = setup.device.tensor([rows, 32], &vec![99u32; rows * 32])?;
    crate::lone_rounds::with(setup.options.clone()).launch(&device_a, &mut ends)?;
    let expected: Vec<u32> = a.chunks(32).flat_map(|row| ends_of_row(row.to_vec())).collect();
    equal(&ends.to_vec()?, &[rows, 32], |i| expected[i])
}

fn ends_of_row(mut row: Vec<u32>) -> Vec<u32> {
    while row.iter().any(|own| *own > 9) {
        let pairs = row.iter().zip(row.iter().rev());
        let next =
            |(own, other): (&u32, &u32)| if own > other { own / 2 + other / 4 } else { own / 2 };
        row = pairs.map(next).collect();
    }
    let odd = row.iter().filter(|own| *own % 2 == 1).count();
    if odd > 4 && row.iter().any(|own| *own > 1) {
        row.rotate_left(1);
        row.iter_mut().for_each(|own| *own += odd as u32);
    }
    row
}
