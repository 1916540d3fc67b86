//! Matrix products and what is like them: `c = a · b`; the same with a transposed
//! factor, scaled, added to, and cut off at 0; the min-plus product; the squared
//! distances of points. The first two against cuBLAS's `c = a · b`.

use std::cell::RefCell;

use tile_kernels::checks::squared_distance;
use tile_kernels::number::Reference;
use tile_kernels::{linear_relu_at, product_at};
use tile_runtime::{Options, Result, Tensor};

use crate::case::{Bench, Case, Cost, Failure, Peer, Work};
use crate::host::{compare_spread, random, same};
use crate::output::Output;

/// `[m, n, k]`.
const MATMUL_SHAPES: [[usize; 3]; 8] = [
    [512, 512, 512],
    [1000, 1000, 1000],
    [1024, 1024, 1024],
    [2048, 2048, 2048],
    [4095, 4095, 4095],
    [4096, 4096, 4096],
    [8192, 8192, 8192],
    [4096, 1024, 8192],
];
const OTHER_SHAPES: [[usize; 3]; 1] = [[4096, 4096, 4096]];
/// Points of so many coordinates.
const DISTANCE_SHAPE: [usize; 3] = [8192, 8192, 256];
const QUICK_SHAPES: [[usize; 3]; 1] = [[70, 50, 90]];

/// Factors of the scaled product: repeated launches on one output stay bounded.
const ALPHA: f32 = 0.75;
const BETA: f32 = 0.5;

pub(crate) fn matmuls(quick: bool) -> Vec<Case> {
    let shapes = if quick { &QUICK_SHAPES[..] } else { &MATMUL_SHAPES };
    shapes.iter().map(|&shape| matmul(shape)).collect()
}

pub(crate) fn others(quick: bool) -> Vec<Case> {
    let shapes = if quick { &QUICK_SHAPES[..] } else { &OTHER_SHAPES };
    let of_points = if quick { QUICK_SHAPES[0] } else { DISTANCE_SHAPE };
    let cases = shapes.iter().flat_map(|&shape| [linear_relu(shape), min_plus(shape)]);
    cases.chain([squared_distances(of_points)]).collect()
}

fn matmul(shape: [usize; 3]) -> Case {
    Case {
        op: "matmul",
        kernel: tile_kernels::matmul::kernel::<f32>(),
        cost: product_cost(shape, 1.0, "m n k multiply-adds"),
        open: Box::new(move |bench| {
            let [_, n, k] = shape;
            let factors = Factors::new(bench, shape, [k, n])?;
            Ok(Box::new(Product {
                output: Output::new(bench, factors.of_output(), f32::NAN)?,
                launch: Box::new(|options, a, b, c| {
                    tile_kernels::matmul::with(options).launch(a, b, c)
                }),
                check: Box::new(move |a, b, (row, col), found| {
                    near([row, col], found, &product_at((a, b), (k, n), (row, col)))
                }),
                factors,
            }))
        }),
        ..case(shape, Peer::Blas)
    }
}

fn linear_relu(shape: [usize; 3]) -> Case {
    Case {
        op: "linear_relu",
        kernel: tile_kernels::linear_relu::kernel::<f32>(),
        cost: product_cost(shape, 1.0, "m n k multiply-adds"),
        open: Box::new(move |bench| {
            let [m, n, k] = shape;
            let factors = Factors::new(bench, shape, [n, k])?;
            let old = random(m * n, 4, f32::random);
            let host_bias = random(n, 5, f32::random);
            let bias = bench.device.tensor([n], &host_bias)?;
            Ok(Box::new(Product {
                output: Output::from_values(bench, [m, n], &old)?,
                launch: Box::new(move |options, a, b, c| {
                    tile_kernels::linear_relu::with(options).launch(ALPHA, a, b, BETA, &bias, c)
                }),
                check: Box::new(move |a, b, (row, col), found| {
                    let (old, bias) = (old[row * n + col], host_bias[col]);
                    let sum = linear_relu_at((a, b), k, (row, col), (ALPHA, BETA, old, bias));
                    near_or_cut([row, col], found, &sum)
                }),
                factors,
            }))
        }),
        ..case(shape, Peer::Blas)
    }
}

fn min_plus(shape: [usize; 3]) -> Case {
    Case {
        op: "min_plus",
        kernel: tile_kernels::min_plus::kernel::<f32>(),
        cost: product_cost(
            shape,
            2.0,
            "m n k additions and as many minima, 128 issued per clock and SM",
        ),
        open: Box::new(move |bench| {
            let [_, n, k] = shape;
            let factors = Factors::new(bench, shape, [k, n])?;
            Ok(Box::new(Product {
                output: Output::new(bench, factors.of_output(), f32::NAN)?,
                launch: Box::new(|options, a, b, c| {
                    tile_kernels::min_plus::with(options).launch(a, b, c)
                }),
                check: Box::new(move |a, b, (row, col), found| {
                    let paths = (0..k).map(|step| a[row * k + step] + b[step * n + col]);
                    same([row, col], found, paths.fold(f32::INFINITY, f32::min))
                }),
                factors,
            }))
        }),
        ..case(shape, Peer::Nothing)
    }
}

fn squared_distances(shape: [usize; 3]) -> Case {
    Case {
        op: "squared_distances",
        kernel: tile_kernels::squared_distances::kernel::<f32>(),
        cost: product_cost(
            shape,
            2.0,
            "m n k differences and as many multiply-adds, 128 issued per clock and SM",
        ),
        open: Box::new(move |bench| {
            let [_, n, k] = shape;
            let factors = Factors::new(bench, shape, [n, k])?;
            Ok(Box::new(Product {
                output: Output::new(bench, factors.of_output(), f32::NAN)?,
                launch: Box::new(|options, x, y, d| {
                    tile_kernels::squared_distances::with(options).launch(x, y, d)
                }),
                check: Box::new(move |x, y, (row, col), found| {
                    let (x, y) = (&x[row * k..][..k], &y[col * k..][..k]);
                    same([row, col], found, squared_distance(x, y))
                }),
                factors,
            }))
        }),
        ..case(shape, Peer::Nothing)
    }
}

/// What the products have in common; operation, kernel, cost and tensors are
/// replaced.
fn case(shape: [usize; 3], peer: Peer) -> Case {
    let [m, n, k] = shape;
    Case {
        op: "",
        dtype: "f32",
        shape: shape.to_vec(),
        named_dims: vec![("M", m), ("N", n), ("K", k)],
        kernel: tile_kernels::matmul::kernel::<f32>(),
        cost: product_cost(shape, 1.0, ""),
        peer,
        open: Box::new(|_| unreachable!("each product makes tensors of its own")),
    }
}

/// Of a product whose steps take so many instructions.
pub(super) fn product_cost(shape: [usize; 3], instructions: f64, formula: &'static str) -> Cost {
    let [m, n, k] = shape.map(|extent| extent as f64);
    Cost {
        flops: 2.0 * m * n * k,
        bytes: 4.0 * (m * k + k * n + m * n),
        instructions: instructions * m * n * k,
        formula,
    }
}

/// How far `found` is from `sum`, or that it is further than rounding explains.
pub(super) fn near<const R: usize>(
    place: [usize; R],
    found: f32,
    sum: &<f32 as Reference>::Sum,
) -> Result<f64, String> {
    if found.agrees_with(sum) {
        return Ok((f64::from(found) - sum.value()).abs());
    }
    Err(format!("element {place:?} is {found:?} and should be {sum:?}"))
}

/// As [`near`], of a sum that becomes 0 where it is negative. Where the sum is
/// within rounding of 0, both are right.
fn near_or_cut(
    place: [usize; 2],
    found: f32,
    sum: &<f32 as Reference>::Sum,
) -> Result<f64, String> {
    if found == 0.0 && sum.value() <= 0.0 { Ok(0.0) } else { near(place, found, sum) }
}

/// The factors of a product, on the host and on the device.
struct Factors {
    shape: [usize; 3],
    host: [Vec<f32>; 2],
    device: [Tensor<f32, 2>; 2],
    /// The second factor as cuBLAS takes it, where the kernel takes another.
    plain: Option<Tensor<f32, 2>>,
    of_peer: RefCell<Tensor<f32, 2>>,
}

impl Factors {
    /// Those of `[m, n, k]`, the second of this shape.
    fn new(bench: &Bench, shape: [usize; 3], second: [usize; 2]) -> Result<Self> {
        let [m, n, k] = shape;
        let host = [random(m * k, 1, f32::random), random(k * n, 2, f32::random)];
        let device =
            [bench.device.tensor([m, k], &host[0])?, bench.device.tensor(second, &host[1])?];
        let plain =
            (second != [k, n]).then(|| bench.device.tensor([k, n], &host[1])).transpose()?;
        let of_peer = RefCell::new(bench.device.zeros([m, n])?);
        Ok(Self { shape, host, device, plain, of_peer })
    }

    fn of_output(&self) -> [usize; 2] {
        [self.shape[0], self.shape[1]]
    }
}

/// A product on its tensors: how it is launched, and what an element should be.
struct Product {
    factors: Factors,
    output: Output<f32, 2>,
    launch: Box<LaunchProduct>,
    check: Box<CheckElement>,
}

type LaunchProduct =
    dyn Fn(Options, &Tensor<f32, 2>, &Tensor<f32, 2>, &mut Tensor<f32, 2>) -> Result<()>;

/// Of both factors, a row and a column, and what was found there.
type CheckElement =
    dyn Fn(&[f32], &[f32], (usize, usize), f32) -> Result<f64, String> + Send + Sync;

impl Work for Product {
    fn launch(&self, options: Options) -> Result<()> {
        let [a, b] = &self.factors.device;
        (self.launch)(options, a, b, &mut self.output.tensor())
    }

    fn reset(&self, bench: &Bench) -> Result<(), Failure> {
        self.output.reset(bench)
    }

    fn verify(&self, bench: &Bench) -> Result<f64, Failure> {
        let ([m, n, _], [a, b], check) = (self.factors.shape, &self.factors.host, &self.check);
        self.output.verify(bench, |c| {
            compare_spread([m, n], |row, col| check(a, b, (row, col), c[row * n + col]))
        })
    }

    fn launch_peer(&self, bench: &Bench) -> Result<()> {
        let Factors { device: [a, b], plain, of_peer, .. } = &self.factors;
        match &bench.blas {
            Some(blas) => blas.matmul(a, plain.as_ref().unwrap_or(b), &mut of_peer.borrow_mut()),
            None => Ok(()),
        }
    }
}
