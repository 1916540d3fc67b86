//! GRAMSCHM: `a = q · r` by the modified method of Gram and Schmidt, `q` of orthonormal
//! columns and `r` triangular: two launches a column.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, floats, roundings};
use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::reference::close_to_largest;

tiled_kernel! {
    /// `r[k, k]` is the length of column `k` of `a`, and column `k` of `q` that of `a`, of
    /// length 1: one block.
    pub fn normalise<T: Float>(
        k: u32,
        a: &Tensor<T, [M, N]>,
        q: &mut Tensor<T, [M, N]>,
        r: &mut Tensor<T, [N, N]>,
    )
    where
        tile: (W),
        block: (tx in W),
    {
        let mut squares: T = 0;
        for i in (tx..M).step_by(W) {
            squares += a[i, k] * a[i, k];
        }
        let length = sqrt(reduce_sum(squares));
        for i in (tx..M).step_by(W) {
            q[i, k] = a[i, k] / length;
        }
        if tx == 0 {
            r[k, k] = length;
        }
    }

    /// Takes from each column of `a` after `k` its part along column `k` of `q`: a block
    /// has `TN` columns, and `TM` work-items for each.
    pub fn project<T: Float>(
        k: u32,
        #[pad = 0] q: &Tensor<T, [M, N]>,
        a: &mut Tensor<T, [M, N]>,
        r: &mut Tensor<T, [N, N]>,
    )
    where
        tile: (TM in pow2(1..=256), TN),
        grid: (bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared sums: [T; TM, TN];
        let j = bx * TN + tx;
        let mut sum: T = 0;
        for i in (ty..M).step_by(TM) {
            sum += q[i, k] * a[i, j];
        }
        sums[ty, tx] = sum;
        barrier;
        for d in halving(TM) {
            if ty < d {
                sums[ty, tx] += sums[ty + d, tx];
            }
            barrier;
        }
        let along = sums[0, tx];
        if j > k as index {
            for i in (ty..M).step_by(TM) {
                a[i, j] -= q[i, k] * along;
            }
            if ty == 0 {
                r[k, j] = along;
            }
        }
    }
}

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "gramschmidt",
    about: "a = q · r, q orthonormal",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[8, 3], &[70, 20]],
    full: &[2048, 1024],
    kernels: || vec![normalise::kernel::<f32>(), project::kernel::<f32>()],
    prepare: |device, sizes| match sizes[..] {
        // Fewer rows than columns: some column is a sum of others.
        [rows, cols] if rows < cols => {
            Err(Failure::Sizes(format!("{rows} rows are fewer than {cols} columns")))
        }
        _ => Ok(Box::new(Factors::new(device, [sizes[0], sizes[1]])?)),
    },
};

struct Factors {
    before: Vec<f32>,
    a: Tensor<f32, 2>,
    q: Tensor<f32, 2>,
    r: Tensor<f32, 2>,
}

impl Factors {
    fn new(device: &Device, shape @ [m, n]: [usize; 2]) -> Result<Self, Failure> {
        let before = floats(1, m * n)?;
        Ok(Self {
            a: device.tensor(shape, &before)?,
            q: device.zeros(shape)?,
            r: device.zeros([n, n])?,
            before,
        })
    }

    /// `q` and `r`, row-major.
    fn expected(&self) -> [Vec<f64>; 2] {
        let [m, n] = self.a.shape();
        let column = |j: usize| self.before.iter().skip(j).step_by(n).map(|&x| f64::from(x));
        let mut columns: Vec<Vec<f64>> = (0..n).map(|j| column(j).collect()).collect();
        let (mut q, mut r) = (vec![0.0; m * n], vec![0.0; n * n]);
        for k in 0..n {
            let (done, rest) = columns.split_at_mut(k + 1);
            let unit = &mut done[k];
            let length = unit.iter().map(|x| x * x).sum::<f64>().sqrt();
            unit.iter_mut().for_each(|x| *x /= length);
            r[k * n + k] = length;
            for (other, j) in rest.iter_mut().zip(k + 1..) {
                let along: f64 = unit.iter().zip(&*other).map(|(q, a)| q * a).sum();
                other.iter_mut().zip(&*unit).for_each(|(a, q)| *a -= q * along);
                r[k * n + j] = along;
            }
            unit.iter().enumerate().for_each(|(i, &x)| q[i * n + k] = x);
        }
        [q, r]
    }
}

impl Prepared for Factors {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let Self { a, q, r, .. } = self;
        for k in 0..a.shape()[1] as u32 {
            normalise::with(options.clone()).launch(k, a, q, r)?;
            project::with(options.clone()).launch(k, q, a, r)?;
        }
        Ok(())
    }

    fn verify(&self) -> Result<(), Failure> {
        let [q, r] = self.expected();
        let tolerance = roundings(2 * self.a.shape()[0]);
        close_to_largest("q", &self.q.to_vec()?, &q, tolerance)?;
        close_to_largest("r", &self.r.to_vec()?, &r, tolerance)
    }

    fn cost(&self) -> Cost {
        let [m, n] = self.a.shape().map(|extent| extent as f64);
        Cost { bytes: 4.0 * (2.0 * m * n + n * n), flops: 2.0 * m * n * n }
    }
}
