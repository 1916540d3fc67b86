//! Checks of the kernels that read constant memory.

use super::{Setup, Verdict, close, equal};
use crate::convolution_at;
use crate::number::Reference;

/// The convolution of `[rows, cols]` with a filter of 5 by 5.
///
/// # Errors
///
/// Where the launch fails or an element is off by more than rounding.
pub fn check_convolution<T: Reference>(setup: &Setup, shape: [usize; 2]) -> Verdict {
    let [rows, cols] = shape;
    let mut rng = setup.rng();
    let x: Vec<T> = (0..rows * cols).map(|_| T::random(&mut rng)).collect();
    let filter: Vec<T> = (0..25).map(|_| T::random(&mut rng)).collect();
    let device_x = setup.device.tensor(shape, &x)?;
    let device_filter = setup.device.constant([5, 5], &filter)?;
    let mut y = setup.device.tensor(shape, &vec![T::poison(); rows * cols])?;
    crate::convolution::with(setup.options.clone()).launch(&device_x, &device_filter, &mut y)?;
    for (at, value) in y.to_vec()?.into_iter().enumerate() {
        let element = [at / cols, at % cols];
        close(value, &convolution_at((&x, &filter), shape, element), &element)?;
    }
    Ok(())
}

/// A filter of `taps` elements along `n` elements.
///
/// # Errors
///
/// Where the launch fails or an element is off by more than rounding.
pub fn check_running_filter<T: Reference>(setup: &Setup, [n, taps]: [usize; 2]) -> Verdict {
    let mut rng = setup.rng();
    let x: Vec<T> = (0..n).map(|_| T::random(&mut rng)).collect();
    let filter: Vec<T> = (0..taps).map(|_| T::random(&mut rng)).collect();
    let device_x = setup.device.tensor([n], &x)?;
    let device_filter = setup.device.constant([taps], &filter)?;
    let mut y = setup.device.tensor([n], &vec![T::poison(); n])?;
    crate::running_filter::with(setup.options.clone()).launch(&device_x, &device_filter, &mut y)?;
    for (at, value) in y.to_vec()?.into_iter().enumerate() {
        let mut sum = T::Sum::default();
        for (k, &tap) in filter.iter().enumerate().take(at + 1) {
            T::add_product(&mut sum, tap, x[at - k]);
        }
        close(value, &sum, &[at])?;
    }
    Ok(())
}

/// The weighted sums of the rows of `[rows, 100]`.
///
/// # Errors
///
/// Where the launch fails or an element is off by more than rounding.
pub fn check_weighted_rows<T: Reference>(setup: &Setup, rows: usize) -> Verdict {
    let mut rng = setup.rng();
    let x: Vec<T> = (0..rows * 100).map(|_| T::random(&mut rng)).collect();
    let weights: Vec<T> = (0..100).map(|_| T::random(&mut rng)).collect();
    let device_x = setup.device.tensor([rows, 100], &x)?;
    let device_weights = setup.device.constant([100], &weights)?;
    let mut y = setup.device.tensor([rows], &vec![T::poison(); rows])?;
    crate::weighted_rows::with(setup.options.clone()).launch(&device_x, &device_weights, &mut y)?;
    for (row, value) in y.to_vec()?.into_iter().enumerate() {
        let mut sum = T::Sum::default();
        let pairs = weights.iter().zip(&x[row * 100..]);
        pairs.for_each(|(&weight, &element)| T::add_product(&mut sum, weight, element));
        close(value, &sum, &[row])?;
    }
    Ok(())
}

/// `n` bytes decoded by tables, twice: each launch reads its own constants.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_decoded(setup: &Setup, n: usize) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<u8> = (0..n).map(|_| rng.u8(..)).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let is_high: Vec<bool> = (0..256).map(|_| rng.bool()).collect();
    let device_is_high = setup.device.constant([16, 16], &is_high)?;
    let tables: Vec<Vec<f64>> =
        (0..4).map(|_| (0..256).map(|_| f64::random(&mut rng)).collect()).collect();
    let mut results = Vec::new();
    for pair in tables.chunks(2) {
        let low = setup.device.constant([256], &pair[0])?;
        let high = setup.device.constant([256], &pair[1])?;
        let mut c = setup.device.tensor([n], &vec![f64::NAN; n])?;
        crate::decoded::with(setup.options.clone()).launch(
            &low,
            &high,
            &device_is_high,
            &device_a,
            &mut c,
        )?;
        results.push(c);
    }
    for (pair, c) in tables.chunks(2).zip(results) {
        equal(&c.to_vec()?, &[n], |i| {
            let code = usize::from(a[i]);
            pair[usize::from(is_high[code])][code]
        })?;
    }
    Ok(())
}

/// Sums of random stretches, some of them empty, of `n` numbers.
///
/// # Errors
///
/// Where the launch fails or a sum is wrong.
pub fn check_stretch_sums(setup: &Setup, [n, stretches]: [usize; 2]) -> Verdict {
    let mut rng = setup.rng();
    let x: Vec<i32> = (0..n).map(|_| rng.i32(..)).collect();
    let mut starts: Vec<i32> = (0..=stretches).map(|_| rng.i32(0..=n as i32)).collect();
    starts.sort_unstable();
    let device_x = setup.device.tensor([n], &x)?;
    let device_starts = setup.device.constant([stretches + 1], &starts)?;
    let mut sums = setup.device.tensor([stretches], &vec![-1; stretches])?;
    crate::stretch_sums::with(setup.options.clone()).launch(
        &device_starts,
        &device_x,
        &mut sums,
    )?;
    equal(&sums.to_vec()?, &[stretches], |at| {
        let stretch = starts[at] as usize..starts[at + 1] as usize;
        x[stretch].iter().fold(0, |sum: i32, value| sum.wrapping_add(*value))
    })
}
