//! Checks of the kernels whose elements are made of many neighbours. Each rounds
//! in an order that the text gives, so the bits must be equal.

use super::{Setup, Verdict, equal};
use crate::number::Reference as _;

/// The distances of `[m, k]` and `[n, k]` points.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_squared_distances(setup: &Setup, [m, n, k]: [usize; 3]) -> Verdict {
    let mut rng = setup.rng();
    let x: Vec<f32> = (0..m * k).map(|_| f32::random(&mut rng)).collect();
    let y: Vec<f32> = (0..n * k).map(|_| f32::random(&mut rng)).collect();
    let device_x = setup.device.tensor([m, k], &x)?;
    let device_y = setup.device.tensor([n, k], &y)?;
    let mut d = setup.device.tensor([m, n], &vec![f32::NAN; m * n])?;
    crate::squared_distances::with(setup.options.clone()).launch(&device_x, &device_y, &mut d)?;
    equal(&d.to_vec()?, &[m, n], |at| {
        squared_distance(&x[at / n * k..][..k], &y[at % n * k..][..k])
    })
}

/// What the squared distance of two points should be, bit by bit.
pub fn squared_distance(x: &[f32], y: &[f32]) -> f32 {
    x.iter().zip(y).fold(0.0, |sum, (x, y)| (x - y).mul_add(x - y, sum))
}

/// A convolution of `[rows, cols]`.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_convolve(setup: &Setup, [rows, cols]: [usize; 2]) -> Verdict {
    let mut rng = setup.rng();
    let a: Vec<f32> = (0..rows * cols).map(|_| f32::random(&mut rng)).collect();
    let filter: Vec<f32> = (0..25).map(|_| f32::random(&mut rng)).collect();
    let device_a = setup.device.tensor([rows, cols], &a)?;
    let device_filter = setup.device.tensor([5, 5], &filter)?;
    let mut b = setup.device.tensor([rows, cols], &vec![f32::NAN; rows * cols])?;
    crate::convolve::with(setup.options.clone()).launch(&device_a, &device_filter, &mut b)?;
    equal(&b.to_vec()?, &[rows, cols], |at| {
        convolved(&a, &filter, [rows, cols], [at / cols, at % cols])
    })
}

/// What an element of a convolution by 5 x 5 factors should be, bit by bit.
pub fn convolved(a: &[f32], filter: &[f32], shape: [usize; 2], place: [usize; 2]) -> f32 {
    filter.iter().enumerate().fold(0.0, |sum, (at, factor)| {
        let at = [at / 5, at % 5];
        let index = |axis: usize| (place[axis] + at[axis]).checked_sub(2);
        let value = match [index(0), index(1)] {
            [Some(row), Some(col)] if row < shape[0] && col < shape[1] => a[row * shape[1] + col],
            _ => 0.0,
        };
        value.mul_add(*factor, sum)
    })
}

/// The seven-point stencil of `[planes, rows, cols]`.
///
/// # Errors
///
/// Where the launch fails or an element is wrong.
pub fn check_seven_point(setup: &Setup, shape: [usize; 3]) -> Verdict {
    let mut rng = setup.rng();
    let n = shape.iter().product();
    let a: Vec<f32> = (0..n).map(|_| f32::random(&mut rng)).collect();
    let device_a = setup.device.tensor(shape, &a)?;
    let mut b = setup.device.tensor(shape, &vec![f32::NAN; n])?;
    crate::seven_point::with(setup.options.clone()).launch(0.5, -0.25, &device_a, &mut b)?;
    let [_, rows, cols] = shape;
    equal(&b.to_vec()?, &shape, |at| {
        seven_point_at(&a, shape, [at / cols / rows, at / cols % rows, at % cols], [0.5, -0.25])
    })
}

/// What an element of the seven-point stencil should be, bit by bit; the factors
/// are those of the element itself and of its neighbours.
pub fn seven_point_at(
    a: &[f32],
    [planes, rows, cols]: [usize; 3],
    [plane, row, col]: [usize; 3],
    [center, side]: [f32; 2],
) -> f32 {
    let at = |[dz, dy, dx]: [isize; 3]| {
        let z = plane.checked_add_signed(dz).filter(|&z| z < planes);
        let y = row.checked_add_signed(dy).filter(|&y| y < rows);
        let x = col.checked_add_signed(dx).filter(|&x| x < cols);
        match (z, y, x) {
            (Some(z), Some(y), Some(x)) => a[(z * rows + y) * cols + x],
            (None, ..) | (_, None, _) | (.., None) => 0.0,
        }
    };
    let across = at([0, 0, -1]) + at([0, 0, 1]);
    let along = at([0, -1, 0]) + at([0, 1, 0]);
    let around = (at([-1, 0, 0]) + at([1, 0, 0])) + (across + along);
    center.mul_add(at([0, 0, 0]), side * around)
}
