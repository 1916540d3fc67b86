//! `c[i] = a[i] · b[i]`, against cuBLAS's strided batches.

use std::cell::RefCell;

use tile_kernels::number::Reference as _;
use tile_kernels::product_at;
use tile_runtime::{Options, Result, Tensor};

use super::product::{near, product_cost};
use crate::case::{Bench, Case, Cost, Failure, Peer, Work};
use crate::host::{compare_spread, random};
use crate::output::Output;

pub(crate) fn cases(quick: bool) -> Vec<Case> {
    vec![case(if quick { [3, 20, 50, 30] } else { [64, 512, 512, 512] })]
}

fn case(shape: [usize; 4]) -> Case {
    let [batches, m, n, k] = shape;
    let one = product_cost([m, n, k], 1.0, "b m n k multiply-adds");
    let all = |of_one: f64| batches as f64 * of_one;
    Case {
        op: "batched_matmul",
        dtype: "f32",
        shape: shape.to_vec(),
        named_dims: vec![("B", batches), ("M", m), ("N", n), ("K", k)],
        kernel: tile_kernels::batched_matmul::kernel::<f32>(),
        cost: Cost {
            flops: all(one.flops),
            bytes: all(one.bytes),
            instructions: all(one.instructions),
            ..one
        },
        peer: Peer::Blas,
        open: Box::new(move |bench| Ok(Box::new(Batches::new(bench, shape)?))),
    }
}

struct Batches {
    shape: [usize; 4],
    host: [Vec<f32>; 2],
    factors: [Tensor<f32, 3>; 2],
    output: Output<f32, 3>,
    of_peer: RefCell<Tensor<f32, 3>>,
}

impl Batches {
    fn new(bench: &Bench, shape: [usize; 4]) -> Result<Self> {
        let [batches, m, n, k] = shape;
        let host =
            [random(batches * m * k, 1, f32::random), random(batches * k * n, 2, f32::random)];
        let factors = [
            bench.device.tensor([batches, m, k], &host[0])?,
            bench.device.tensor([batches, k, n], &host[1])?,
        ];
        let output = Output::new(bench, [batches, m, n], f32::NAN)?;
        let of_peer = RefCell::new(bench.device.zeros([batches, m, n])?);
        Ok(Self { shape, host, factors, output, of_peer })
    }
}

impl Work for Batches {
    fn launch(&self, options: Options) -> Result<()> {
        let [a, b] = &self.factors;
        tile_kernels::batched_matmul::with(options).launch(a, b, &mut self.output.tensor())
    }

    fn reset(&self, bench: &Bench) -> Result<(), Failure> {
        self.output.reset(bench)
    }

    fn verify(&self, bench: &Bench) -> Result<f64, Failure> {
        let ([batches, m, n, k], [a, b]) = (self.shape, &self.host);
        self.output.verify(bench, |c| {
            // The rows of all batches one below the other.
            compare_spread([batches * m, n], |row, col| {
                let (batch, row) = (row / m, row % m);
                let factors = (&a[batch * m * k..][..m * k], &b[batch * k * n..][..k * n]);
                let found = c[(batch * m + row) * n + col];
                near([batch, row, col], found, &product_at(factors, (k, n), (row, col)))
            })
        })
    }

    fn launch_peer(&self, bench: &Bench) -> Result<()> {
        let [a, b] = &self.factors;
        match &bench.blas {
            Some(blas) => blas.batched_matmul(a, b, &mut self.of_peer.borrow_mut()),
            None => Ok(()),
        }
    }
}
