//! `c = a + b`, against a copy that reads and writes as many bytes.

use std::cell::RefCell;

use tile_kernels::number::Reference as _;
use tile_runtime::bench::copy;
use tile_runtime::{Options, Result, Tensor};

use crate::case::{Bench, Case, Cost, Failure, Peer, Work};
use crate::host::{compare_all, random, same};
use crate::output::Output;

const SIZES: [usize; 2] = [1 << 28, (1 << 28) + 1];

pub(crate) fn cases(quick: bool) -> Vec<Case> {
    let sizes = if quick { &[5000][..] } else { &SIZES };
    sizes.iter().map(|&n| case(n)).collect()
}

fn case(n: usize) -> Case {
    Case {
        op: "add",
        dtype: "f32",
        shape: vec![n],
        named_dims: vec![("N", n)],
        kernel: tile_kernels::add::kernel::<f32>(),
        cost: Cost {
            flops: 0.0,
            bytes: 12.0 * n as f64,
            instructions: n as f64,
            formula: "12 n bytes",
        },
        peer: Peer::Copy,
        open: Box::new(move |bench| Ok(Box::new(Add::new(bench, n)?))),
    }
}

struct Add {
    host: [Vec<f32>; 2],
    factors: [Tensor<f32, 1>; 2],
    output: Output<f32, 1>,
    from: Tensor<f32, 1>,
    to: RefCell<Tensor<f32, 1>>,
}

impl Add {
    fn new(bench: &Bench, n: usize) -> Result<Self> {
        let host = [1, 2].map(|seed| random(n, seed, f32::random));
        let tensor = |values: &Vec<f32>| bench.device.tensor([n], values);
        // A copy of half as many bytes as the addition moves moves as many.
        let copied = random((3 * n).div_ceil(2), 3, f32::random);
        let from = bench.device.tensor([copied.len()], &copied)?;
        let to = RefCell::new(bench.device.zeros([copied.len()])?);
        let factors = [tensor(&host[0])?, tensor(&host[1])?];
        Ok(Self { factors, host, output: Output::new(bench, [n], f32::NAN)?, from, to })
    }
}

impl Work for Add {
    fn launch(&self, options: Options) -> Result<()> {
        let [a, b] = &self.factors;
        tile_kernels::add::with(options).launch(a, b, &mut self.output.tensor())
    }

    fn reset(&self, bench: &Bench) -> Result<(), Failure> {
        self.output.reset(bench)
    }

    fn verify(&self, bench: &Bench) -> Result<f64, Failure> {
        let [a, b] = &self.host;
        self.output.verify(bench, |c| compare_all(c.len(), |at| same(at, c[at], a[at] + b[at])))
    }

    fn launch_peer(&self, bench: &Bench) -> Result<()> {
        copy(&bench.stream, &self.from, &mut self.to.borrow_mut())
    }
}
