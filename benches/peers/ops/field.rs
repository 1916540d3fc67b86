//! Kernels from one field to another of the same shape: a convolution of an image,
//! the softmax of rows, the seven-point stencil of a volume. No library that we
//! load has them; they are measured against their rooflines.

use tile_kernels::checks::{convolved, seven_point_at};
use tile_kernels::number::Reference as _;
use tile_runtime::{Options, Result, Tensor};

use crate::case::{Bench, Case, Cost, Failure, Peer, Work};
use crate::host::{compare_spread, random, same};
use crate::output::Output;

/// Factors of the stencil: a step of heat through a volume.
const CENTER: f32 = 0.4;
const SIDE: f32 = 0.1;

pub(crate) fn cases(quick: bool) -> Vec<Case> {
    let pick = |quick_shape, shape| if quick { quick_shape } else { shape };
    vec![
        convolution(pick([70, 50], [8192, 8192])),
        softmax(pick([20, 300], [16384, 4096])),
        seven_point(if quick { [10, 20, 30] } else { [512, 512, 512] }),
    ]
}

fn convolution(shape: [usize; 2]) -> Case {
    let [rows, cols] = shape;
    Case {
        op: "convolution",
        dtype: "f32",
        shape: shape.to_vec(),
        named_dims: vec![("R", rows), ("C", cols)],
        kernel: tile_kernels::convolution::kernel::<f32>(),
        cost: cost(&shape, 25.0, "8 r c bytes, or 25 r c multiply-adds"),
        peer: Peer::Nothing,
        open: Box::new(move |bench| {
            let host_filter = random(25, 2, f32::random);
            let filter = bench.device.constant([5, 5], &host_filter)?;
            Ok(Box::new(Field::new(
                bench,
                shape,
                move |options, a, b| tile_kernels::convolution::with(options).launch(a, &filter, b),
                move |a, at, found| {
                    let place = [at / cols, at % cols];
                    same(place, found, convolved(a, &host_filter, shape, place))
                },
            )?))
        }),
    }
}

fn softmax(shape: [usize; 2]) -> Case {
    let [rows, cols] = shape;
    Case {
        op: "softmax",
        dtype: "f32",
        shape: shape.to_vec(),
        named_dims: vec![("R", rows), ("C", cols)],
        kernel: tile_kernels::softmax::kernel::<f32>(),
        // A difference, an exponential and a sum of each; a quotient.
        cost: cost(&shape, 4.0, "8 r c bytes"),
        peer: Peer::Nothing,
        open: Box::new(move |bench| {
            Ok(Box::new(Field::new(
                bench,
                shape,
                |options, a, b| tile_kernels::softmax::with(options).launch(a, b),
                move |a, at, found| {
                    let row = &a[at / cols * cols..][..cols];
                    let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                    let shifted = |value: f32| f64::from(value - most).exp();
                    let total: f64 = row.iter().map(|&value| shifted(value)).sum();
                    let expected = shifted(a[at]) / total;
                    let deviation = (f64::from(found) - expected).abs();
                    // Exponentials of 2 ulp, and a sum of some hundred terms.
                    if deviation <= expected / f64::from(1 << 18) {
                        return Ok(deviation);
                    }
                    let place = [at / cols, at % cols];
                    Err(format!("element {place:?} is {found} and should be {expected}"))
                },
            )?))
        }),
    }
}

fn seven_point(shape: [usize; 3]) -> Case {
    let [planes, rows, cols] = shape;
    Case {
        op: "seven_point",
        dtype: "f32",
        shape: shape.to_vec(),
        named_dims: vec![("D", planes), ("R", rows), ("C", cols)],
        kernel: tile_kernels::seven_point::kernel::<f32>(),
        cost: cost(&shape, 7.0, "8 d r c bytes"),
        peer: Peer::Nothing,
        open: Box::new(move |bench| {
            Ok(Box::new(Field::new(
                bench,
                shape,
                |options, a, b| tile_kernels::seven_point::with(options).launch(CENTER, SIDE, a, b),
                move |a, at, found| {
                    let place = [at / cols / rows, at / cols % rows, at % cols];
                    same(place, found, seven_point_at(a, shape, place, [CENTER, SIDE]))
                },
            )?))
        }),
    }
}

/// Of a kernel that reads and writes each element once, with so many instructions
/// for each.
fn cost(shape: &[usize], instructions: f64, formula: &'static str) -> Cost {
    let n = shape.iter().product::<usize>() as f64;
    Cost { flops: 0.0, bytes: 8.0 * n, instructions: instructions * n, formula }
}

/// A field, and what becomes of it.
struct Field<const R: usize, L, C> {
    host: Vec<f32>,
    input: Tensor<f32, R>,
    output: Output<f32, R>,
    launch: L,
    check: C,
}

impl<const R: usize, L, C> Field<R, L, C>
where
    L: Fn(Options, &Tensor<f32, R>, &mut Tensor<f32, R>) -> Result<()>,
    C: Fn(&[f32], usize, f32) -> Result<f64, String> + Send + Sync,
{
    /// A random field of a shape; `check` is given it, and the place and value of
    /// an element that was stored.
    fn new(bench: &Bench, shape: [usize; R], launch: L, check: C) -> Result<Self> {
        let host = random(shape.iter().product(), 1, f32::random);
        let input = bench.device.tensor(shape, &host)?;
        Ok(Self { host, input, output: Output::new(bench, shape, f32::NAN)?, launch, check })
    }
}

impl<const R: usize, L, C> Work for Field<R, L, C>
where
    L: Fn(Options, &Tensor<f32, R>, &mut Tensor<f32, R>) -> Result<()>,
    C: Fn(&[f32], usize, f32) -> Result<f64, String> + Send + Sync,
{
    fn launch(&self, options: Options) -> Result<()> {
        (self.launch)(options, &self.input, &mut self.output.tensor())
    }

    fn reset(&self, bench: &Bench) -> Result<(), Failure> {
        self.output.reset(bench)
    }

    fn verify(&self, bench: &Bench) -> Result<f64, Failure> {
        let (host, check) = (&self.host, &self.check);
        let cols = self.input.shape().last().copied().unwrap_or(1);
        self.output.verify(bench, |found| {
            compare_spread([found.len() / cols.max(1), cols], |row, col| {
                let at = row * cols + col;
                check(host, at, found[at])
            })
        })
    }

    fn launch_peer(&self, _bench: &Bench) -> Result<()> {
        Ok(())
    }
}
