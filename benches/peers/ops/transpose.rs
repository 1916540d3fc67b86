//! `b = aᵀ` of elements of two, four and eight bytes, against a copy.

use std::cell::RefCell;

use tile_runtime::bench::copy;
use tile_runtime::{Number, Options, Result, Tensor, f16};

use crate::case::{Bench, Case, Cost, Failure, Peer, Work};
use crate::host::{compare_all, random, same};
use crate::output::Output;

const SHAPES: [[usize; 2]; 3] = [[8192, 8192], [16384, 16384], [8191, 8193]];

pub(crate) fn cases(quick: bool) -> Vec<Case> {
    let shapes = if quick { &[[100, 70]][..] } else { &SHAPES };
    let of_types = [case::<f16>, case::<f32>, case::<f64>];
    of_types.iter().flat_map(|case| shapes.iter().map(|&shape| case(shape))).collect()
}

/// An element that has a random value.
trait Value: Number + Copy + PartialEq + Send + Sync {
    const POISON: Self;
    fn random(rng: &mut fastrand::Rng) -> Self;
}

impl Value for f16 {
    const POISON: Self = Self::NAN;
    fn random(rng: &mut fastrand::Rng) -> Self {
        Self::from_f32(rng.f32())
    }
}

impl Value for f32 {
    const POISON: Self = Self::NAN;
    fn random(rng: &mut fastrand::Rng) -> Self {
        rng.f32()
    }
}

impl Value for f64 {
    const POISON: Self = Self::NAN;
    fn random(rng: &mut fastrand::Rng) -> Self {
        rng.f64()
    }
}

fn case<T: Value>([rows, cols]: [usize; 2]) -> Case {
    let kernel = tile_kernels::transpose::kernel::<T>();
    Case {
        op: "transpose",
        dtype: kernel.types()[0].name(),
        shape: vec![rows, cols],
        named_dims: vec![("R", rows), ("C", cols)],
        kernel,
        cost: Cost {
            flops: 0.0,
            bytes: (2 * rows * cols * size_of::<T>()) as f64,
            instructions: 0.0,
            formula: "2 r c bytes of an element",
        },
        peer: Peer::Copy,
        open: Box::new(move |bench| Ok(Box::new(Transpose::<T>::new(bench, [rows, cols])?))),
    }
}

struct Transpose<T: Value> {
    shape: [usize; 2],
    host: Vec<T>,
    input: Tensor<T, 2>,
    output: Output<T, 2>,
    copied: RefCell<Tensor<T, 2>>,
}

impl<T: Value> Transpose<T> {
    fn new(bench: &Bench, [rows, cols]: [usize; 2]) -> Result<Self> {
        let host = random(rows * cols, 1, T::random);
        let input = bench.device.tensor([rows, cols], &host)?;
        let output = Output::new(bench, [cols, rows], T::POISON)?;
        let copied = RefCell::new(bench.device.zeros([rows, cols])?);
        Ok(Self { shape: [rows, cols], host, input, output, copied })
    }
}

impl<T: Value> Work for Transpose<T> {
    fn launch(&self, options: Options) -> Result<()> {
        tile_kernels::transpose::with(options).launch(&self.input, &mut self.output.tensor())
    }

    fn reset(&self, bench: &Bench) -> Result<(), Failure> {
        self.output.reset(bench)
    }

    fn verify(&self, bench: &Bench) -> Result<f64, Failure> {
        let ([rows, cols], host) = (self.shape, &self.host);
        self.output.verify(bench, |found| {
            compare_all(found.len(), |at| same(at, found[at], host[at % rows * cols + at / rows]))
        })
    }

    fn launch_peer(&self, bench: &Bench) -> Result<()> {
        copy(&bench.stream, &self.input, &mut self.copied.borrow_mut())
    }
}
