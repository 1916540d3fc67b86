//! Checks of the kernels whose work-items combine their values.

use super::{Setup, Verdict, close, equal};
use crate::number::Reference;
use crate::row_sum_at;

/// The sums of the rows of `[rows, cols]`.
///
/// # Errors
///
/// Where the launch fails or an element is off by more than rounding.
pub fn check_row_totals<T: Reference>(setup: &Setup, [rows, cols]: [usize; 2]) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<T> = (0..rows * cols).map(|_| T::random(&mut rng)).collect();
    let device_a = setup.device.tensor([rows, cols], &a)?;
    let mut sums = setup.device.tensor([rows], &vec![T::poison(); rows])?;
    crate::row_totals::with(setup.options.clone()).launch(&device_a, &mut sums)?;
    for (row, value) in sums.to_vec()?.into_iter().enumerate() {
        close(value, &row_sum_at(&a, cols, row), &[row])?;
    }
    Ok(())
}

/// The sum of `n` numbers by one block of `n_items` work-items, to the bit: each
/// adds every `n_items`-th number, then the documented tree.
///
/// # Errors
///
/// Where the launch fails or the sum has other bits.
pub fn check_tree(setup: &Setup, n: usize, n_items: usize) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<f32> = (0..n).map(|_| f32::random(&mut rng)).collect();
    let device_a = setup.device.tensor([1, n], &a)?;
    let mut sums = setup.device.tensor([1], &[f32::NAN])?;
    let setup = setup.tiles(&[("TN", n_items as u32)]);
    crate::row_totals::with(setup.options).launch(&device_a, &mut sums)?;
    let padded = |at: usize| a.get(at).copied().unwrap_or(0.0);
    let steps = n.div_ceil(n_items);
    let own = |item| (0..steps).fold(0.0, |sum, step| sum + padded(step * n_items + item));
    let mut values: Vec<f32> = (0..n_items).map(own).collect();
    let mut distance = 1;
    while distance < n_items {
        for item in 0..n_items {
            if item % (2 * distance) == 0 && item + distance < n_items {
                values[item] += values[item + distance];
            }
        }
        distance *= 2;
    }
    let bits = |value: f32| value.to_bits();
    equal(&[bits(sums.to_vec()?[0])], &[1], |_| bits(values[0]))
}

/// The running sums of tiles of `n_items` numbers, to the bit: the documented tree.
///
/// # Errors
///
/// Where the launch fails or a sum has other bits.
pub fn check_tile_sums(setup: &Setup, [n, n_items]: [usize; 2]) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<f32> = (0..n).map(|_| f32::random(&mut rng)).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let poison = vec![f32::NAN; n];
    let mut with = setup.device.tensor([n], &poison)?;
    let mut without = setup.device.tensor([n], &poison)?;
    let setup = setup.tiles(&[("TN", n_items as u32)]);
    crate::tile_sums::with(setup.options).launch(&device_a, &mut with, &mut without)?;
    let sums: Vec<Vec<f32>> = a.chunks(n_items).map(|tile| scanned(tile, n_items)).collect();
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    equal(&bits(&with.to_vec()?), &[n], |at| sums[at / n_items][at % n_items].to_bits())?;
    equal(&bits(&without.to_vec()?), &[n], |at| match at % n_items {
        0 => 0,
        place => sums[at / n_items][place - 1].to_bits(),
    })
}

/// The running sums of a tile that is filled up with zeros.
fn scanned(tile: &[f32], n_items: usize) -> Vec<f32> {
    let mut values: Vec<f32> = tile.to_vec();
    values.resize(n_items, 0.0);
    let mut distance = 1;
    while distance < n_items {
        let before = values.clone();
        for item in (0..n_items).filter(|item| item / distance % 2 == 1) {
            values[item] = before[item / distance * distance - 1] + before[item];
        }
        distance *= 2;
    }
    values
}

/// The softmax of the rows of `[rows, cols]`.
///
/// # Errors
///
/// Where the launch fails, or an element is off by more than 2⁻²⁰ of itself: two
/// exponentials of 2 ulp, and a sum of up to 2⁸ terms.
pub fn check_softmax(setup: &Setup, [rows, cols]: [usize; 2]) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<f32> = (0..rows * cols).map(|_| f32::random(&mut rng) * 8.0).collect();
    let device_a = setup.device.tensor([rows, cols], &a)?;
    let mut b = setup.device.tensor([rows, cols], &vec![f32::NAN; rows * cols])?;
    crate::softmax::with(setup.options.clone()).launch(&device_a, &mut b)?;
    let found = b.to_vec()?;
    equal(&found, &[rows, cols], |at| {
        let row = &a[at / cols * cols..][..cols];
        let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let shifted = |value: f32| f64::from(value - most).exp();
        let total: f64 = row.iter().map(|&value| shifted(value)).sum();
        let wanted = shifted(a[at]) / total;
        let is_close = (f64::from(found[at]) - wanted).abs() <= wanted / f64::from(1 << 20);
        if is_close { found[at] } else { wanted as f32 }
    })
}

/// Tiles of `[rows, cols]` against their least and largest elements.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_tile_ranges(setup: &Setup, [rows, cols]: [usize; 2]) -> Verdict {
    const TILE: [usize; 2] = [5, 7];
    let mut rng = setup.rng();
    let a: Vec<i32> = (0..rows * cols).map(|_| rng.i32(..)).collect();
    let device_a = setup.device.tensor([rows, cols], &a)?;
    let mut above = setup.device.tensor([rows, cols], &vec![0; rows * cols])?;
    let mut below = setup.device.tensor([rows, cols], &vec![0; rows * cols])?;
    crate::tile_ranges::with(setup.options.clone()).launch(&device_a, &mut above, &mut below)?;
    let tile_of = |at: usize| {
        let [first_row, first_col] = [at / cols / TILE[0] * TILE[0], at % cols / TILE[1] * TILE[1]];
        let in_rows = first_row..rows.min(first_row + TILE[0]);
        in_rows.flat_map(move |row| {
            (first_col..cols.min(first_col + TILE[1])).map(move |col| row * cols + col)
        })
    };
    let least = |at| tile_of(at).map(|other| a[other]).min().unwrap_or_default();
    let most = |at| tile_of(at).map(|other| a[other]).max().unwrap_or_default();
    equal(&above.to_vec()?, &[rows, cols], |at| a[at].wrapping_sub(least(at)))?;
    equal(&below.to_vec()?, &[rows, cols], |at| most(at).wrapping_sub(a[at]))
}

/// Ranks, running sums and counts of the rows of `[rows, cols]`.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_ranks(setup: &Setup, [rows, cols]: [usize; 2]) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<i32> = (0..rows * cols).map(|_| rng.i32(-2..3)).collect();
    let device_a = setup.device.tensor([rows, cols], &a)?;
    let mut rank = setup.device.tensor([rows, cols], &vec![-1; rows * cols])?;
    let mut running = setup.device.tensor([rows, cols], &vec![-1; rows * cols])?;
    let mut counts = setup.device.tensor([rows], &vec![-1; rows])?;
    crate::ranks::with(setup.options.clone()).launch(
        &device_a,
        &mut rank,
        &mut running,
        &mut counts,
    )?;
    let row_before = |at: usize| &a[at / cols * cols..at];
    let positive = |values: &[i32]| values.iter().filter(|value| **value > 0).count() as i32;
    equal(&rank.to_vec()?, &[rows, cols], |at| positive(row_before(at)))?;
    equal(&running.to_vec()?, &[rows, cols], |at| row_before(at).iter().sum::<i32>() + a[at])?;
    equal(&counts.to_vec()?, &[rows], |row| positive(&a[row * cols..][..cols]))
}

/// How often the largest of each 48 of `n` values can be halved.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_halvings(setup: &Setup, n: usize) -> Verdict {
    const TILE: usize = 48;
    let mut rng = setup.rng();
    let a: Vec<u32> = (0..n).map(|_| rng.u32(..) >> rng.u32(0..32)).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let mut rounds = setup.device.tensor([n], &vec![77; n])?;
    crate::halvings::with(setup.options.clone()).launch(&device_a, &mut rounds)?;
    equal(&rounds.to_vec()?, &[n], |at| {
        let first = at / TILE * TILE;
        let around = &a[first..n.min(first + TILE)];
        u32::BITS - around.iter().copied().max().unwrap_or(0).leading_zeros()
    })
}
