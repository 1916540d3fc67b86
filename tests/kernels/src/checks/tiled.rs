//! Checks of the kernels that go through one shared tile.

use super::{Setup, Verdict, close, equal};
use crate::number::Reference;
use crate::row_sum_at;

/// `b = aᵀ` for `a` of `[rows, cols]`; a copy has the same bits.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_transpose<T: Reference>(setup: &Setup, [rows, cols]: [usize; 2]) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<T> = (0..rows * cols).map(|_| T::random(&mut rng)).collect();
    let device_a = setup.device.tensor([rows, cols], &a)?;
    let mut b = setup.device.tensor([cols, rows], &vec![T::poison(); rows * cols])?;
    crate::transpose::with(setup.options.clone()).launch(&device_a, &mut b)?;
    equal(&b.to_vec()?, &[cols, rows], |at| a[at % rows * cols + at / rows])
}

/// The five-point stencil on `[rows, cols]`: its four additions have an order, so
/// the bits must be equal.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_stencil<T: Reference>(setup: &Setup, [rows, cols]: [usize; 2]) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<T> = (0..rows * cols).map(|_| T::random(&mut rng)).collect();
    let device_a = setup.device.tensor([rows, cols], &a)?;
    let mut b = setup.device.tensor([rows, cols], &vec![T::poison(); rows * cols])?;
    crate::stencil::with(setup.options.clone()).launch(&device_a, &mut b)?;
    let at = |row: Option<usize>, col: Option<usize>| match (row, col) {
        (Some(row), Some(col)) if row < rows && col < cols => a[row * cols + col],
        _ => T::zero(),
    };
    let sum = |x: T, y: T| T::fused(x, T::one(), y);
    equal(&b.to_vec()?, &[rows, cols], |position| {
        let (row, col) = (position / cols, position % cols);
        let across = sum(at(Some(row), col.checked_sub(1)), at(Some(row), Some(col + 1)));
        let along = sum(at(row.checked_sub(1), Some(col)), at(Some(row + 1), Some(col)));
        sum(a[position], sum(across, along))
    })
}

/// The sums of the rows of `[rows, cols]`.
///
/// # Errors
///
/// Where the launch fails or an element is off by more than rounding.
pub fn check_row_sums<T: Reference>(setup: &Setup, [rows, cols]: [usize; 2]) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<T> = (0..rows * cols).map(|_| T::random(&mut rng)).collect();
    let device_a = setup.device.tensor([rows, cols], &a)?;
    let mut sums = setup.device.tensor([rows], &vec![T::poison(); rows])?;
    crate::row_sums::with(setup.options.clone()).launch(&device_a, &mut sums)?;
    for (row, value) in sums.to_vec()?.into_iter().enumerate() {
        close(value, &row_sum_at(&a, cols, row), &[row])?;
    }
    Ok(())
}

/// The min-plus product of `[m, k]` and `[k, n]`: a sum rounds once and a minimum
/// does not, so the bits must be equal.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_min_plus(setup: &Setup, [m, n, k]: [usize; 3]) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<f32> = (0..m * k).map(|_| f32::random(&mut rng)).collect();
    let b: Vec<f32> = (0..k * n).map(|_| f32::random(&mut rng)).collect();
    let device_a = setup.device.tensor([m, k], &a)?;
    let device_b = setup.device.tensor([k, n], &b)?;
    let mut c = setup.device.tensor([m, n], &vec![f32::NAN; m * n])?;
    crate::min_plus::with(setup.options.clone()).launch(&device_a, &device_b, &mut c)?;
    equal(&c.to_vec()?, &[m, n], |position| {
        let (row, col) = (position / n, position % n);
        let paths = (0..k).map(|step| a[row * k + step] + b[step * n + col]);
        paths.fold(f32::INFINITY, f32::min)
    })
}
