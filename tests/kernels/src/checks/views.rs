//! Checks of kernels on views.

use super::{CheckError, Setup, Verdict, close};
use crate::number::Reference;

/// How far the parts of larger tensors are from their edges.
const MARGIN: usize = 3;

/// `c = a · b` of column-major `[m, k]` and `[k, n]`, the second a part of a larger
/// tensor, into a transposed part of a larger tensor, the rest of which stays.
///
/// # Errors
///
/// Where the launch fails or an element is off by more than rounding.
pub fn check_views<T: Reference>(setup: &Setup, [m, n, k]: [usize; 3]) -> Verdict {
    let mut rng = setup.rng();
    let mut random = |n: usize| -> Vec<T> { (0..n).map(|_| T::random(&mut rng)).collect() };
    let (a, wide) = (random(k * m), k + 2 * MARGIN);
    let b = random(n * wide);
    let device_a = setup.device.tensor([k, m], &a)?;
    let device_b = setup.device.tensor([n, wide], &b)?;
    let [rows, cols] = [n + MARGIN, m + 2 * MARGIN];
    let old = random(rows * cols);
    let mut whole = setup.device.tensor([rows, cols], &old)?;
    let b_part = device_b.slice([0..n, MARGIN..MARGIN + k])?.transposed();
    let mut part = whole.slice_mut([0..n, MARGIN..MARGIN + m])?.transposed();
    let kernel = crate::matmul::with(setup.options.clone());
    kernel.launch(&device_a.transposed(), &b_part, &mut part)?;
    drop(part);
    let found = whole.to_vec()?;
    for (at, value) in found.iter().enumerate() {
        let (j, column) = (at / cols, at % cols);
        let element = [j, column];
        let inside = j < n && (MARGIN..MARGIN + m).contains(&column);
        if !inside {
            if *value != old[at] {
                let values = format!("{value:?} and was {:?}", old[at]);
                return Err(CheckError::Wrong { element: element.to_vec(), values });
            }
            continue;
        }
        let i = column - MARGIN;
        let mut sum = T::Sum::default();
        (0..k).for_each(|p| T::add_product(&mut sum, a[p * m + i], b[j * wide + MARGIN + p]));
        close(*value, &sum, &element)?;
    }
    Ok(())
}
