//! 2MM: `d = alpha · a · b · c + beta · d`, by way of `alpha · a · b`: two kernels.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, floats, roundings, row_times, widened};
use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::reference::rows_close;

tiled_kernel! {
    /// `ab = alpha · a · b`.
    pub fn scaled_product<T: Float>(
        alpha: T,
        a: &Tensor<T, [M, K]>,
        b: &Tensor<T, [K, N]>,
        ab: &mut Tensor<T, [M, N]>,
    )
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [T; TM, TK];
        shared b_s: [T; TK, TN];
        let mut acc: Acc<T> = 0;
        phase p in tiles(K, TK) {
            load a_s[i, k] = a[by * TM + i, p * TK + k];
            load b_s[k, j] = b[p * TK + k, bx * TN + j];
            barrier;
            for k in 0..TK {
                acc += a_s[ty, k] * b_s[k, tx];
            }
            barrier;
        }
        ab[by * TM + ty, bx * TN + tx] = alpha * (acc as T);
    }

    /// `d = ab · c + beta · d`.
    pub fn added_product<T: Float>(
        beta: T,
        ab: &Tensor<T, [M, K]>,
        c: &Tensor<T, [K, N]>,
        d: &mut Tensor<T, [M, N]>,
    )
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared ab_s: [T; TM, TK];
        shared c_s: [T; TK, TN];
        let mut acc: Acc<T> = 0;
        acc += beta * d[by * TM + ty, bx * TN + tx];
        phase p in tiles(K, TK) {
            load ab_s[i, k] = ab[by * TM + i, p * TK + k];
            load c_s[k, j] = c[p * TK + k, bx * TN + j];
            barrier;
            for k in 0..TK {
                acc += ab_s[ty, k] * c_s[k, tx];
            }
            barrier;
        }
        d[by * TM + ty, bx * TN + tx] = acc;
    }
}

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "2mm",
    about: "d = alpha a · b · c + beta d",
    sizes: &["rows of a", "columns of a", "columns of b", "columns of c"],
    small: &[&[1, 1, 1, 1], &[3, 0, 5, 4], &[33, 20, 17, 40]],
    full: &[2048, 2048, 2048, 2048],
    kernels: || vec![scaled_product::kernel::<f32>(), added_product::kernel::<f32>()],
    prepare: |device, sizes| {
        Ok(Box::new(Matrices::new(device, [sizes[0], sizes[1], sizes[2], sizes[3]])?))
    },
};

const ALPHA: f32 = 1.25;
const BETA: f32 = 0.5;

struct Matrices {
    /// `a`, `b`, `c`, and `d` as it was.
    host: [Vec<f32>; 4],
    extents: [usize; 4],
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: Tensor<f32, 2>,
    ab: Tensor<f32, 2>,
    d: Tensor<f32, 2>,
}

impl Matrices {
    fn new(device: &Device, extents @ [m, k, l, n]: [usize; 4]) -> Result<Self, Failure> {
        let host = [floats(1, m * k)?, floats(2, k * l)?, floats(3, l * n)?, floats(4, m * n)?];
        Ok(Self {
            a: device.tensor([m, k], &host[0])?,
            b: device.tensor([k, l], &host[1])?,
            c: device.tensor([l, n], &host[2])?,
            ab: device.zeros([m, l])?,
            d: device.tensor([m, n], &host[3])?,
            host,
            extents,
        })
    }
}

impl Prepared for Matrices {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let Self { a, b, c, ab, d, .. } = self;
        scaled_product::with(options.clone()).launch(ALPHA, a, b, ab)?;
        added_product::with(options.clone()).launch(BETA, ab, c, d)
    }

    fn verify(&self) -> Result<(), Failure> {
        let ([a, b, c, before], [m, k, l, n]) = (&self.host, self.extents);
        rows_close("d", &self.d.to_vec()?, [m, n], roundings(k + l), |row| {
            let of_ab = row_times(&widened(&a[row * k..][..k]), b, l);
            let of_abc = row_times(&of_ab, c, n);
            let old = widened(&before[row * n..][..n]);
            of_abc
                .iter()
                .zip(old)
                .map(|(abc, old)| f64::from(ALPHA) * abc + f64::from(BETA) * old)
                .collect()
        })
    }

    fn cost(&self) -> Cost {
        let [m, k, l, n] = self.extents.map(|extent| extent as f64);
        let elements = m * k + k * l + l * n + 2.0 * m * n;
        Cost { bytes: 4.0 * elements, flops: 2.0 * m * l * (k + n) }
    }
}
