//! The kernels with functions and constants, on the CPU device against plain loops.

use tile_kernels::{leaky_windows, named_arms, shaped};
use tile_runtime::{Device, Element, Number, Options, bf16};

/// Eighths from -2 to 2: their squares and sums of them are exact in `f32`.
fn eighths(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 + 11) % 33) as f32 / 8.0 - 2.0).collect()
}

fn launch_shaped<T: Number>(x: &[T], poison: T, options: Options) -> Vec<T> {
    let dev = Device::cpu();
    let x = dev.tensor([x.len()], x).unwrap();
    let mut y = dev.tensor([x.shape()[0]], &vec![poison; x.shape()[0]]).unwrap();
    shaped::with(options).launch(&x, &mut y).unwrap();
    y.to_vec().unwrap()
}

fn configurations() -> [Options; 3] {
    [Options::new(), Options::new().tile("TN", 5), Options::new().tile("TN", 64)]
}

#[test]
fn functions_of_functions() {
    // A product feeds an fma within a function, and none across a call.
    let of_f32 = |x: f32| {
        let y = x * x;
        let d = x - 1.0;
        y.mul_add(x, y) + 1.0 - d * d
    };
    let x: Vec<f32> = (0..100).map(|i| (i as f32 * 0.37).sin() * 3.0).collect();
    let expected: Vec<f32> = x.iter().copied().map(of_f32).collect();
    let of_i8 = |x: i8| {
        let y = x.wrapping_mul(x);
        let d = x.wrapping_sub(1);
        let sum = y.wrapping_mul(x).wrapping_add(y).wrapping_add(1);
        sum.wrapping_sub(d.wrapping_mul(d))
    };
    let bytes: Vec<i8> = (-128..=127).collect();
    let expected_bytes: Vec<i8> = bytes.iter().copied().map(of_i8).collect();
    for options in configurations() {
        assert_eq!(launch_shaped(&x, f32::NAN, options.clone()), expected);
        assert_eq!(launch_shaped(&bytes, 99, options), expected_bytes);
    }
}

#[test]
fn short_floats_round_each_step() {
    let round = bf16::from_f32;
    let x: Vec<bf16> = eighths(64).into_iter().map(round).collect();
    let expected: Vec<bf16> = x
        .iter()
        .map(|x| {
            let x = x.to_f32();
            let y = round(x * x).to_f32();
            let d = round(x - 1.0).to_f32();
            let sum = round(round(y * x).to_f32() + y).to_f32();
            let sum = round(sum + 1.0).to_f32();
            round(sum - round(d * d).to_f32())
        })
        .collect();
    assert_eq!(launch_shaped(&x, bf16::NAN, Options::new()), expected);
}

#[test]
fn functions_in_loads_bounds_and_conditions() {
    let dev = Device::cpu();
    let leaky = |x: f32| if x > 0.0 { x } else { 0.125 * x };
    for n in [0, 1, 2, 5, 63, 64, 65, 200] {
        let x = eighths(n);
        let expected: Vec<f32> = (0..n as i64)
            .map(|i| {
                let at = |k: i64| leaky(x[(i + k).clamp(0, n as i64 - 1) as usize]);
                let sum: f32 = (-2..=2).map(|k| at(k) * at(k)).sum();
                let bent = sum > 1.0 && (sum - 1.0) * (sum - 1.0) > 0.25;
                if bent { leaky(1.0 - sum * sum) } else { sum }
            })
            .collect();
        let x = dev.tensor([n], &x).unwrap();
        for options in configurations() {
            let mut y = dev.tensor([n], &vec![f32::NAN; n]).unwrap();
            leaky_windows::with(options).launch(&x, &mut y).unwrap();
            assert_eq!(y.to_vec().unwrap(), expected, "{n} elements");
        }
    }
}

#[test]
fn arms_with_names() {
    let dev = Device::cpu();
    let x = eighths(100);
    let next = |i: usize| x.get(i + 1).copied().unwrap_or(0.0);
    let expected: Vec<f32> = (0..x.len())
        .map(|i| {
            let step = next(i) - x[i];
            let rest = if x[i] % 3.0 == 0.0 { x[0] * x[0] } else { 0.0 };
            1.0 + if x[i] > 0.0 { step * (2.0 * step) } else { rest }
        })
        .collect();
    let x = dev.tensor([100], &x).unwrap();
    for options in configurations() {
        let mut y = dev.zeros([100]).unwrap();
        named_arms::with(options).launch(&x, &mut y).unwrap();
        assert_eq!(y.to_vec().unwrap(), expected);
    }
}

#[test]
fn each_kernel_of_an_invocation_is_an_item() {
    assert_eq!(shaped::kernel::<f32>().name(), "shaped");
    assert_eq!(leaky_windows::kernel().name(), "leaky_windows");
    assert_eq!(f32::DTYPE.name(), "f32");
}
