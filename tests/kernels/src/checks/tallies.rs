//! Checks of the kernels that update common elements atomically. The numbers are
//! whole and small enough that every order of adding gives the same sum.

use super::{Setup, Verdict, equal};

/// Histograms of `n` values, some of them outside of the bins, in both ways.
///
/// # Errors
///
/// Where the launch fails or a count is wrong.
pub fn check_histograms(setup: &Setup, n: usize) -> Verdict {
    const BINS: usize = 64;
    let mut rng = setup.rng();
    let a: Vec<i32> = (0..n).map(|_| rng.i32(-3..BINS as i32 + 3)).collect();
    let old: Vec<u32> = (0..BINS).map(|_| rng.u32(0..100)).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let expected = |bin: usize| {
        let found = a.iter().filter(|value| **value == bin as i32).count();
        old[bin] + found as u32
    };
    let mut counts = setup.device.tensor([BINS], &old)?;
    crate::histogram::with(setup.options.clone()).launch(&device_a, &mut counts)?;
    equal(&counts.to_vec()?, &[BINS], expected)?;
    let mut counts = setup.device.tensor([BINS], &old)?;
    crate::shared_histogram::with(setup.options.clone()).launch(&device_a, &mut counts)?;
    equal(&counts.to_vec()?, &[BINS], expected)
}

/// Tallies of `n` integers.
///
/// # Errors
///
/// Where the launch fails or a tally is wrong.
pub fn check_integer_tallies(setup: &Setup, n: usize) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<i32> = (0..n).map(|_| rng.i32(..)).collect();
    let wide: Vec<u64> = (0..n).map(|_| rng.u64(..)).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let device_wide = setup.device.tensor([n], &wide)?;
    let first = [7, -7, 100, -100];
    let first_wide = [u64::MAX, u64::MAX, 0, 5];
    let mut narrow = setup.device.tensor([4], &first)?;
    let mut totals = setup.device.tensor([4], &first_wide)?;
    crate::integer_tallies::with(setup.options.clone()).launch(
        &device_a,
        &device_wide,
        &mut narrow,
        &mut totals,
    )?;
    let folded: [i32; 4] = [
        a.iter().fold(first[0], |sum, value| sum.wrapping_add(*value)),
        a.iter().fold(first[1], |sum, value| sum.wrapping_sub(*value)),
        a.iter().fold(first[2], |least, value| least.min(*value)),
        a.iter().fold(first[3], |most, value| most.max(*value)),
    ];
    equal(&narrow.to_vec()?, &[4], |at| folded[at])?;
    let folded: [u64; 4] = [
        wide.iter().fold(first_wide[0], |sum, value| sum.wrapping_add(*value)),
        wide.iter().fold(first_wide[1], |all, value| all & value),
        wide.iter().fold(first_wide[2], |any, value| any | value),
        wide.iter().fold(first_wide[3], |odd, value| odd ^ value),
    ];
    equal(&totals.to_vec()?, &[4], |at| folded[at])
}

/// Tallies of `n` floating-point numbers, of up to 2^14 elements exact in any
/// order.
///
/// # Errors
///
/// Where the launch fails or a tally is wrong.
pub fn check_float_tallies(setup: &Setup, n: usize) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<f32> = (0..n).map(|_| rng.i32(-1000..1000) as f32 / 2.0).collect();
    let wide: Vec<f64> = a.iter().map(|value| f64::from(*value) * 3.0).collect();
    let device_a = setup.device.tensor([n], &a)?;
    let device_wide = setup.device.tensor([n], &wide)?;
    let first = [0.5f32, -0.5, 3.0, f32::NAN];
    let mut narrow = setup.device.tensor([4], &first)?;
    let mut totals = setup.device.tensor([4], &first.map(f64::from))?;
    crate::float_tallies::with(setup.options.clone()).launch(
        &device_a,
        &device_wide,
        &mut narrow,
        &mut totals,
    )?;
    let fold = |values: &[f64]| {
        [
            values.iter().fold(0.5, |sum, value| sum + value),
            values.iter().fold(-0.5, |sum, value| sum - value),
            values.iter().fold(3.0, |least: f64, value| least.min(*value)),
            values.iter().fold(f64::NAN, |most: f64, value| most.max(*value)),
        ]
    };
    // Of no numbers at all the NaN stays; it is equal to nothing.
    let shown = |value: f64| if value.is_nan() { None } else { Some(value) };
    let from_narrow: Vec<f64> = a.iter().map(|value| f64::from(*value)).collect();
    let (narrow, totals) = (narrow.to_vec()?, totals.to_vec()?);
    let narrow: Vec<_> = narrow.into_iter().map(|value| shown(f64::from(value))).collect();
    let totals: Vec<_> = totals.into_iter().map(shown).collect();
    equal(&narrow, &[4], |at| shown(fold(&from_narrow)[at]))?;
    equal(&totals, &[4], |at| shown(fold(&wide)[at]))
}
