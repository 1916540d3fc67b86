//! Checks of the kernels with local arrays.

use super::{Setup, Verdict, equal};

/// Fours of `n` elements, sorted.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_sorted_fours(setup: &Setup, n: usize) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<i32> = (0..n).map(|_| rng.i32(-50..50)).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let mut c = setup.device.tensor([n], &vec![i32::MIN; n])?;
    crate::sorted_fours::with(setup.options.clone()).launch(&device_a, &mut c)?;
    let mut expected = a;
    expected.chunks_mut(4).for_each(<[i32]>::sort_unstable);
    equal(&c.to_vec()?, &[n], |at| expected[at])
}

/// A product of small whole numbers, exact in any order.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_matmul_squares(setup: &Setup, [m, n, k]: [usize; 3]) -> Verdict {
    let mut rng = setup.rng();
    let mut numbers = |n: usize| -> Vec<f32> { (0..n).map(|_| rng.i32(-8..8) as f32).collect() };
    let (a, b) = (numbers(m * k), numbers(k * n));
    let device_a = setup.device.tensor([m, k], &a)?;
    let device_b = setup.device.tensor([k, n], &b)?;
    let mut c = setup.device.tensor([m, n], &vec![f32::NAN; m * n])?;
    crate::matmul_squares::with(setup.options.clone()).launch(&device_a, &device_b, &mut c)?;
    equal(&c.to_vec()?, &[m, n], |at| {
        let (row, column) = (at / n, at % n);
        (0..k).map(|i| a[row * k + i] * b[i * n + column]).sum()
    })
}

/// The digits of `n` numbers.
///
/// # Errors
///
/// Where the launch fails or a digit is wrong.
pub fn check_digits(setup: &Setup, n: usize) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<u32> = (0..n).map(|_| rng.u32(..)).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let mut c = setup.device.tensor([n, 4], &vec![99; n * 4])?;
    crate::digits::with(setup.options.clone()).launch(&device_a, &mut c)?;
    equal(&c.to_vec()?, &[n, 4], |at| a[at / 4] % 2401 / 7u32.pow((at % 4) as u32) % 7)
}

/// Arnold's cat map of `n` pairs.
///
/// # Errors
///
/// Where the launch fails or a number is wrong.
pub fn check_cat_map(setup: &Setup, n: usize) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<u32> = (0..2 * n).map(|_| rng.u32(..)).collect();
    let device_a = setup.device.tensor([n, 2], &a)?;
    let mut c = setup.device.tensor([n, 2], &vec![99; n * 2])?;
    crate::cat_map::with(setup.options.clone()).launch(&device_a, &mut c)?;
    equal(&c.to_vec()?, &[n, 2], |at| {
        let first = if at % 2 == 0 { a[at].wrapping_mul(2) } else { a[at - 1] };
        first.wrapping_add(a[at | 1])
    })
}

/// Counts of each part of `n` elements, of `part` elements each.
///
/// # Errors
///
/// Where the launch fails or a count is wrong.
pub fn check_counted_parts(setup: &Setup, n: usize, part: usize) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<i32> = (0..n).map(|_| rng.i32(-2..10)).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let n_parts = n.div_ceil(part);
    let mut c = setup.device.tensor([n_parts, 8], &vec![-1; n_parts * 8])?;
    let options = setup.options.clone().tile("TN", part as u32);
    crate::counted_parts::with(options).launch(&device_a, &mut c)?;
    equal(&c.to_vec()?, &[n_parts, 8], |at| {
        let of_part = a.chunks(part).nth(at / 8).unwrap_or_default();
        of_part.iter().filter(|value| **value == (at % 8) as i32).count() as i32
    })
}
