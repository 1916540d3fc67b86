//! Checks of the matrix products.
//!
//! A product of at most [`MOST_STEPS`] multiply-adds is compared in every
//! element. A larger one is compared in rows spread over it, and then proved as
//! a whole: on whole numbers, so that all arithmetic is exact, `c · x` must be
//! `a · (b · x)` for a random vector `x`. A wrong product passes that with
//! probability 2⁻²⁰ at most (Freivalds, "Probabilistic Machines Can Use Less
//! Running Time", 1977).

use super::{CheckError, Setup, Verdict, close};
use crate::number::Reference;
use crate::{linear_relu_at, product_at, scaled_product_at};

/// Multiply-adds of the reference that a check may take.
const MOST_STEPS: usize = 1 << 26;

/// `c = a · b` for `[m, k]` and `[k, n]`.
///
/// # Errors
///
/// Where the launch fails or the product is wrong.
pub fn check_matmul<T: Reference>(setup: &Setup, shape: [usize; 3]) -> Verdict {
    let [m, n, k] = shape;
    let [a, b, c] = launch_matmul(setup, shape, T::random)?;
    let rows = (MOST_STEPS / (n * k).max(1)).clamp(1, m.max(1)).min(m);
    for checked in 0..rows {
        let row = if rows > 1 { checked * (m - 1) / (rows - 1) } else { 0 };
        for col in 0..n {
            close(c[row * n + col], &product_at((&a, &b), (k, n), (row, col)), &[row, col])?;
        }
    }
    if rows == m { Ok(()) } else { prove(&launch_matmul(setup, shape, T::random_whole)?, shape) }
}

/// `a`, `b` and the `c` that the kernel stored.
fn launch_matmul<T: Reference>(
    setup: &Setup,
    [m, n, k]: [usize; 3],
    random: fn(&mut fastrand::Rng) -> T,
) -> Result<[Vec<T>; 3], CheckError> {
    let mut rng = setup.rng();
    let a: Vec<T> = (0..m * k).map(|_| random(&mut rng)).collect();
    let b: Vec<T> = (0..k * n).map(|_| random(&mut rng)).collect();
    let device_a = setup.device.tensor([m, k], &a)?;
    let device_b = setup.device.tensor([k, n], &b)?;
    let mut c = setup.device.tensor([m, n], &vec![T::poison(); m * n])?;
    crate::matmul::with(setup.options.clone()).launch(&device_a, &device_b, &mut c)?;
    Ok([a, b, c.to_vec()?])
}

/// Shows `c · x = a · (b · x)` for a random `x` of whole numbers below 2²⁰.
fn prove<T: Reference>([a, b, c]: &[Vec<T>; 3], [m, n, k]: [usize; 3]) -> Verdict {
    let mut rng = fastrand::Rng::with_seed(2);
    let x: Vec<i64> = (0..n).map(|_| rng.i64(0..1 << 20)).collect();
    let bx: Vec<i64> = (0..k).filter_map(|row| dot(&b[row * n..][..n], &x)).collect();
    for row in 0..m {
        let expected = dot(&a[row * k..][..k], &bx);
        if expected.is_none() || dot(&c[row * n..][..n], &x) != expected {
            return Err(CheckError::Unproved { row });
        }
    }
    Ok(())
}

/// The exact product of a row of whole numbers with `x`; `None` where one is not
/// whole. No sum of a check reaches 2⁶³: 8192 · 4 · (8192 · 4 · 2²⁰) is 2⁵⁰.
fn dot<T: Reference>(row: &[T], x: &[i64]) -> Option<i64> {
    row.iter().zip(x).try_fold(0i64, |sum, (value, x)| Some(sum + value.to_whole()? * x))
}

/// One product per batch, for `[batches, m, k]` and `[batches, k, n]`.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_batched_matmul<T: Reference>(
    setup: &Setup,
    [batches, m, n, k]: [usize; 4],
) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<T> = (0..batches * m * k).map(|_| T::random(&mut rng)).collect();
    let b: Vec<T> = (0..batches * k * n).map(|_| T::random(&mut rng)).collect();
    let device_a = setup.device.tensor([batches, m, k], &a)?;
    let device_b = setup.device.tensor([batches, k, n], &b)?;
    let mut c = setup.device.tensor([batches, m, n], &vec![T::poison(); batches * m * n])?;
    crate::batched_matmul::with(setup.options.clone()).launch(&device_a, &device_b, &mut c)?;
    for (position, value) in c.to_vec()?.into_iter().enumerate() {
        let (batch, row, col) = (position / n / m, position / n % m, position % n);
        let (a, b) = (&a[batch * m * k..][..m * k], &b[batch * k * n..][..k * n]);
        close(value, &product_at((a, b), (k, n), (row, col)), &[batch, row, col])?;
    }
    Ok(())
}

/// `c = max(alpha · a · bᵀ + beta · c + bias, 0)` for `[m, k]` and `[n, k]`.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_linear_relu(setup: &Setup, [m, n, k]: [usize; 3]) -> Verdict {
    let mut rng = setup.rng();
    let mut values = |n: usize| -> Vec<f32> { (0..n).map(|_| f32::random(&mut rng)).collect() };
    let (a, b, bias, old) = (values(m * k), values(n * k), values(n), values(m * n));
    let (alpha, beta) = (0.75, -0.5);
    let device_a = setup.device.tensor([m, k], &a)?;
    let device_b = setup.device.tensor([n, k], &b)?;
    let device_bias = setup.device.tensor([n], &bias)?;
    let mut c = setup.device.tensor([m, n], &old)?;
    let launch = crate::linear_relu::with(setup.options.clone());
    launch.launch(alpha, &device_a, &device_b, beta, &device_bias, &mut c)?;
    for (position, value) in c.to_vec()?.into_iter().enumerate() {
        let (row, col) = (position / n, position % n);
        let scalars = (alpha, beta, old[position], bias[col]);
        let sum = linear_relu_at((&a, &b), k, (row, col), scalars);
        // What is negative, or is 0 but for rounding, is cut off.
        if value != 0.0 || sum.value() > 0.0 {
            close(value, &sum, &[row, col])?;
        }
    }
    Ok(())
}

/// `c = alpha · a · bᵀ + beta · c` for `[m, k]` and `[n, k]`.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_scaled_matmul<T: Reference>(setup: &Setup, [m, n, k]: [usize; 3]) -> Verdict {
    let mut rng = setup.rng();
    let (alpha, beta) = (T::random(&mut rng), T::random(&mut rng));
    let a: Vec<T> = (0..m * k).map(|_| T::random(&mut rng)).collect();
    let b: Vec<T> = (0..n * k).map(|_| T::random(&mut rng)).collect();
    let old: Vec<T> = (0..m * n).map(|_| T::random(&mut rng)).collect();
    let device_a = setup.device.tensor([m, k], &a)?;
    let device_b = setup.device.tensor([n, k], &b)?;
    let mut c = setup.device.tensor([m, n], &old)?;
    let launch = crate::scaled_matmul::with(setup.options.clone());
    launch.launch(alpha, &device_a, &device_b, beta, &mut c)?;
    for (position, value) in c.to_vec()?.into_iter().enumerate() {
        let (row, col) = (position / n, position % n);
        let scalars = (alpha, beta, old[position]);
        close(value, &scaled_product_at((&a, &b), k, (row, col), scalars), &[row, col])?;
    }
    Ok(())
}
