//! Checks of the kernels whose work-items share nothing. Each element is one
//! IEEE operation, so the results must have the reference's bits.

use super::{Setup, Verdict, equal};
use crate::number::Reference;

/// `c = a + b` on `n` elements.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_add<T: Reference>(setup: &Setup, n: usize) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<T> = (0..n).map(|_| T::random(&mut rng)).collect();
    let b: Vec<T> = (0..n).map(|_| T::random(&mut rng)).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let device_b = setup.device.tensor([n], &b)?;
    let mut c = setup.device.tensor([n], &vec![T::poison(); n])?;
    crate::add::with(setup.options.clone()).launch(&device_a, &device_b, &mut c)?;
    equal(&c.to_vec()?, &[n], |i| T::fused(a[i], T::one(), b[i]))
}

/// `y = alpha · x + y` on `n` elements.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_saxpy<T: Reference>(setup: &Setup, n: usize) -> Verdict {
    let mut rng = setup.rng();
    let alpha = T::random(&mut rng);
    let x: Vec<T> = (0..n).map(|_| T::random(&mut rng)).collect();
    let old: Vec<T> = (0..n).map(|_| T::random(&mut rng)).collect();
    let device_x = setup.device.tensor([n], &x)?;
    let mut y = setup.device.tensor([n], &old)?;
    crate::saxpy::with(setup.options.clone()).launch(alpha, &device_x, &mut y)?;
    equal(&y.to_vec()?, &[n], |i| T::fused(alpha, x[i], old[i]))
}
