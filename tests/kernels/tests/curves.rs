//! The functions of the language on the CPU device: exact ones to the bit, those of
//! a library within their tolerance of a result in `f64`.

use tile_kernels::{
    exact_curves, fused_curves, integer_curves, library_curves, ring_differences, turned_words,
};
use tile_runtime::{Device, Float, Integer, Options, bf16, f16};

/// Floats with every kind among them.
const FLOATS: [f64; 22] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    -1.0,
    1.5,
    -1.5,
    2.5,
    -2.5,
    3.25,
    -7.75,
    0.125,
    1000.5,
    -1000.25,
    2e4,
    1e-3,
    -1e-3,
    63.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

trait Real: Float + Copy + PartialEq + std::fmt::Debug {
    const EPSILON: f64;
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
    /// The bits, all NaNs alike.
    fn bits(self) -> u64;
}

macro_rules! real {
    ($ty:ident, $epsilon:expr, $of:expr, $wide:expr) => {
        impl Real for $ty {
            const EPSILON: f64 = $epsilon;
            fn of(value: f64) -> Self {
                $of(value)
            }
            fn wide(self) -> f64 {
                $wide(self)
            }
            fn bits(self) -> u64 {
                if self.is_nan() { u64::MAX } else { u64::from(self.to_bits()) }
            }
        }
    };
}

real!(f16, 1.0 / 1024.0, f16::from_f64, f16::to_f64);
real!(bf16, 1.0 / 128.0, bf16::from_f64, bf16::to_f64);
real!(f32, f32::EPSILON as f64, |value| value as f32, f64::from);
real!(f64, f64::EPSILON, |value| value, |value: f64| value);

/// All pairs of the values, as the type has them.
fn pairs<T: Real>() -> (Vec<T>, Vec<T>) {
    let values = FLOATS.map(T::of);
    values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b))).unzip()
}

/// The smaller; of a NaN and a number the number.
fn minimum(a: f64, b: f64) -> f64 {
    match a.is_nan() || b < a || (a == b && b.is_sign_negative()) {
        true => b,
        false => a,
    }
}

/// What is left of `a` by `n`, not negative but for what rounding leaves.
fn remainder(a: f64, n: f64, step: impl Fn(f64) -> f64) -> f64 {
    let rest = a % n;
    if rest < 0.0 { step(rest + n.abs()) } else { rest }
}

/// The quotient that belongs to it.
fn quotient(a: f64, n: f64, step: impl Fn(f64) -> f64) -> f64 {
    let whole = step(a / n).trunc();
    match a % n < 0.0 {
        true if n < 0.0 => step(whole + 1.0),
        true => step(whole - 1.0),
        false => whole,
    }
}

fn check_exact<T: Real>() {
    let (x, z) = pairs::<T>();
    let n = x.len();
    let dev = Device::cpu();
    let (dx, dz) = (dev.tensor([n], &x).unwrap(), dev.tensor([n], &z).unwrap());
    let mut y = dev.zeros::<T, 2>([19, n]).unwrap();
    let mut b = dev.zeros::<bool, 2>([5, n]).unwrap();
    exact_curves::launch(&dx, &dz, &mut y, &mut b).unwrap();
    let (y, b) = (y.to_vec().unwrap(), b.to_vec().unwrap());
    let is_double = T::EPSILON == f64::EPSILON;
    // Each step of a 16-bit type is one of `f32`, rounded.
    let step = |value: f64| if is_double { value } else { T::of(value).wide() };
    for i in 0..n {
        let (u, v) = (x[i].wide(), z[i].wide());
        let square = step(u * u);
        let fourth = step(square * square);
        let root = if is_double { u.sqrt() } else { (u as f32).sqrt().into() };
        let rsqrt = if is_double { 1.0 / root } else { (1.0 / root as f32).into() };
        let expected = [
            u.abs(),
            u.sqrt(),
            rsqrt,
            u.floor(),
            u.ceil(),
            u.round(),
            u.round_ties_even(),
            u.trunc(),
            u - u.trunc(),
            if u.is_nan() { u } else { f64::copysign(1.0, u) },
            u.copysign(v),
            minimum(u, v),
            -minimum(-u, -v),
            minimum(2.5, -minimum(-u, 1.5)),
            step(fourth * u),
            step(1.0 / square),
            step(1.0 / step(u - v)),
            remainder(u, v, step),
            quotient(u, v, step),
        ];
        for (row, &value) in expected.iter().enumerate() {
            let (found, expected) = (y[row * n + i], T::of(value));
            assert_eq!(found.bits(), expected.bits(), "row {row} of {u}, {v}: {found:?}");
        }
        let kinds = [(u + v).is_nan(), u.is_infinite(), u.is_finite()];
        if T::EPSILON < 1e-3 {
            assert_eq!([b[i], b[n + i], b[2 * n + i]], kinds, "{u}, {v}");
        }
        if !u.is_nan() {
            let signs = [u.is_sign_negative(), u.is_sign_positive()];
            assert_eq!([b[3 * n + i], b[4 * n + i]], signs, "{u}");
        }
    }
}

#[test]
fn exact_functions() {
    check_exact::<f16>();
    check_exact::<bf16>();
    check_exact::<f32>();
    check_exact::<f64>();
}

#[test]
fn fused_products() {
    let dev = Device::cpu();
    let x: Vec<f32> = (0..200).map(|i| (i as f32 * 0.7).sin() * 3.0).collect();
    let z: Vec<f32> = (0..200).map(|i| (i as f32 * 1.3).cos()).collect();
    let (dx, dz) = (dev.tensor([200], &x).unwrap(), dev.tensor([200], &z).unwrap());
    let mut y = dev.zeros::<f32, 2>([3, 200]).unwrap();
    fused_curves::launch(&dx, &dz, &mut y).unwrap();
    let y = y.to_vec().unwrap();
    for i in 0..200 {
        let (u, v) = (x[i], z[i]);
        let expected = [u.mul_add(v, -1.0), u.mul_add(u, v * v), u * u + v];
        assert_eq!([y[i], y[200 + i], y[400 + i]], expected, "{u}, {v}");
    }
}

/// The error function at the values below, as tables have it.
fn erf(x: f64) -> f64 {
    let size = match x.abs() {
        0.0 => 0.0,
        0.25 => 0.276_326_390_168_236_9,
        0.5 => 0.520_499_877_813_046_5,
        0.75 => 0.711_155_633_653_515_1,
        1.0 => 0.842_700_792_949_714_9,
        2.0 => 0.995_322_265_018_952_7,
        3.5 => 0.999_999_256_901_627_6,
        other => other,
    };
    size.copysign(x)
}

fn check_library<T: Real>() {
    let values = [0.25, 0.5, 0.75, 1.0, 2.0, 3.5, -0.25, -0.75, -2.0, 0.0, f64::NAN];
    let (x, z): (Vec<T>, Vec<T>) =
        values.iter().flat_map(|&a| values.iter().map(move |&b| (T::of(a), T::of(b)))).unzip();
    let n = x.len();
    let dev = Device::cpu();
    let (dx, dz) = (dev.tensor([n], &x).unwrap(), dev.tensor([n], &z).unwrap());
    let mut y = dev.zeros::<T, 2>([22, n]).unwrap();
    library_curves::launch(&dx, &dz, &mut y).unwrap();
    let y = y.to_vec().unwrap();
    for i in 0..n {
        let (u, v) = (x[i].wide(), z[i].wide());
        let expected = [
            u.exp(),
            u.ln(),
            u.ln(),
            u.sin(),
            u.cos(),
            u.tanh(),
            u.exp2(),
            u.exp_m1(),
            u.log2(),
            u.log10(),
            u.ln_1p(),
            u.tan(),
            u.asin(),
            u.acos(),
            u.atan(),
            u.sinh(),
            u.cosh(),
            u.cbrt(),
            u.powf(v),
            u.atan2(v),
            u.hypot(v),
            erf(u),
        ];
        for (row, value) in expected.into_iter().enumerate() {
            let found = y[row * n + i].wide();
            let close = (found - value).abs() <= 4.0 * T::EPSILON * value.abs();
            let same = found == value || (found.is_nan() && value.is_nan());
            assert!(close || same, "row {row} of {u}, {v}: {found}, not {value}");
        }
    }
}

#[test]
fn library_functions() {
    check_library::<f16>();
    check_library::<bf16>();
    check_library::<f32>();
    check_library::<f64>();
}

macro_rules! check_integers {
    ($($ty:ident)+) => {$({
        fn launch<T: Integer>(a: &[T], n: &[T]) -> (Vec<T>, Vec<u32>) {
            let dev = Device::cpu();
            let len = a.len();
            let (a, n) = (dev.tensor([len], a).unwrap(), dev.tensor([len], n).unwrap());
            let mut y = dev.zeros::<T, 2>([8, len]).unwrap();
            let mut counts = dev.zeros::<u32, 2>([7, len]).unwrap();
            integer_curves::launch(&a, &n, &mut y, &mut counts).unwrap();
            (y.to_vec().unwrap(), counts.to_vec().unwrap())
        }
        let edges = [$ty::MIN, $ty::MIN + 1, $ty::MAX, $ty::MAX - 1, $ty::MAX / 2, 0, 1, 2, 3, 7, 100];
        let values: Vec<$ty> =
            edges.into_iter().chain(edges.map(|value| (0 as $ty).wrapping_sub(value))).collect();
        let (a, n): (Vec<$ty>, Vec<$ty>) =
            values.iter().flat_map(|&a| values.iter().map(move |&n| (a, n))).unzip();
        let len = a.len();
        let (y, counts) = launch(&a, &n);
        let euclid = |a: $ty, n: $ty| match n {
            0 => (0, 0),
            n => (a.wrapping_rem_euclid(n), a.wrapping_div_euclid(n)),
        };
        for i in 0..len {
            let (u, v) = (a[i], n[i]);
            let is_negative = i128::from(u) < 0;
            let size = if is_negative { (0 as $ty).wrapping_sub(u) } else { u };
            let sign = if u > 0 { 1 } else { (0 as $ty).wrapping_sub(is_negative as $ty) };
            let (rest, quotient) = euclid(u, v);
            let ring = match v > 0 {
                true => euclid(u.wrapping_add(1), v.wrapping_add(1)).0,
                false => euclid(u, 3).0,
            };
            let (power, reverse) = (u.wrapping_pow(5), u.reverse_bits());
            let expected = [size, sign, rest, quotient, ring, power, u.clamp(2, 5), reverse];
            for (row, expected) in expected.into_iter().enumerate() {
                assert_eq!(y[row * len + i], expected, "row {row} of {u}, {v} {}", stringify!($ty));
            }
            let bits = [
                u.count_ones(),
                u.leading_zeros(),
                u.trailing_zeros(),
                u.count_zeros(),
                u.leading_ones(),
                u.trailing_ones(),
                // No negative number is a power of two.
                u32::from(u.count_ones() == 1 && u > 0),
            ];
            for (row, bits) in bits.into_iter().enumerate() {
                assert_eq!(counts[row * len + i], bits, "row {row} of {u}");
            }
        }
    })+};
}

#[test]
fn functions_of_integers() {
    check_integers!(i8 u8 i16 u16 i32 u32 i64 u64);
}

#[test]
fn bits_in_a_circle_and_distances() {
    let dev = Device::cpu();
    let n = 70;
    let a: Vec<i32> = (0..n as i32)
        .map(|i| if i % 7 == 0 { i32::MIN + i } else { i.wrapping_mul(0x1357_9bdf) })
        .collect();
    let b: Vec<u8> = (0..n).map(|i| (i * 37 + 5) as u8).collect();
    let places: Vec<u64> = (0..n as u64).map(|i| if i == 69 { u64::MAX } else { i }).collect();
    let at = |i: usize| places[i];
    let (da, db) = (dev.tensor([n], &a).unwrap(), dev.tensor([n], &b).unwrap());
    let dp = dev.tensor([n], &places).unwrap();
    for checked in [false, true] {
        let mut words = dev.zeros::<i32, 2>([2, n]).unwrap();
        let mut bytes = dev.zeros::<u8, 2>([3, n]).unwrap();
        let mut apart = dev.zeros::<u32, 2>([2, n]).unwrap();
        let options = Options::new().tile("TN", 64).checked(checked);
        turned_words::with(options)
            .launch(&da, &db, &dp, &mut words, &mut bytes, &mut apart)
            .unwrap();
        let (words, bytes) = (words.to_vec().unwrap(), bytes.to_vec().unwrap());
        let apart = apart.to_vec().unwrap();
        for i in 0..n {
            let turned =
                [a[i].rotate_left((at(i) % 32) as u32), a[i].rotate_right((i % 32) as u32)];
            assert_eq!([words[i], words[n + i]], turned, "{i}");
            let turned = [
                b[i].rotate_left((at(i).wrapping_add(1) % 8) as u32),
                b[i].rotate_right((at(i) % 8) as u32),
                b[i].abs_diff(b[0]),
            ];
            assert_eq!([bytes[i], bytes[n + i], bytes[2 * n + i]], turned, "{i}");
            assert_eq!([apart[i], apart[n + i]], [a[i].abs_diff(a[0]), (n - i) as u32], "{i}");
        }
    }
}

#[test]
fn positions_in_a_ring() {
    let dev = Device::cpu();
    for n in [0_i32, 1, 2, 37, 64, 100] {
        for back in [0, 1, 36, 37, 250, -5] {
            let x: Vec<i32> = (0..n).map(|i| i * i + 3).collect();
            let expected: Vec<i32> = (0..n)
                .map(|i| {
                    let from = (i - back).rem_euclid(n);
                    x[i as usize] - x[from as usize] + (i - back).div_euclid(n)
                })
                .collect();
            let x = dev.tensor([n as usize], &x).unwrap();
            let mut y = dev.zeros::<i32, 1>([n as usize]).unwrap();
            ring_differences::launch(&x, back, &mut y).unwrap();
            assert_eq!(y.to_vec().unwrap(), expected, "{n} elements, {back} back");
        }
    }
}
