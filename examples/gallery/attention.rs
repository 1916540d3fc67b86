//! One head of attention, `softmax(q · kᵀ · scale) · v`, in one launch: the scores are
//! never stored. A block has some queries and walks over the keys and values tile by
//! tile. Of each query it holds the largest score so far, the sum of the exponentials
//! relative to it, and the sum of the values with these weights; where a tile brings a
//! larger score, what was summed before shrinks by `exp(before - now)`: the *online*
//! softmax of Milakov and Gimelshein (2018), fused as in FlashAttention (Dao and
//! others, 2022).
//!
//! The head's width is a tile parameter: a number when the kernel is compiled, one of
//! those listed. The shapes of the arguments say which.
//!
//! ```sh
//! cargo run --release --example gallery -- attention 1000 1003
//! cargo run --release --example gallery -- attention_f16 1000 1003
//! ```

use tile_runtime::{Device, Float, Options, Tensor, bf16, f16, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, close, floats};

tiled_kernel! {
    /// `o[i] = sum over j of w[i, j] * v[j]`, `w[i]` the softmax of `scale * q[i] · k[j]`.
    pub fn attention<T: Float>(
        q: &Tensor<T, [N, D]>,
        #[pad = 0] k: &Tensor<T, [M, D]>,
        #[pad = 0] v: &Tensor<T, [M, D]>,
        scale: f32,
        o: &mut Tensor<T, [N, D]>,
    )
    where
        tile: (TQ, D in [32, 64, 128], TK in [32, 64], D % TK == 0),
        grid: (bx in tiles(N, TQ)),
        block: (ty in TQ, tx in TK),
    {
        shared q_s: [T; TQ, D];
        shared k_s: [T; TK, D];
        shared v_s: [T; TK, D];
        shared weights: [Acc<T>; TQ, TK];
        // Of each query: the largest score so far, the sum of weights relative to it,
        // and what the sums before shrink by.
        shared most: [Acc<T>; TQ];
        shared total: [Acc<T>; TQ];
        shared shrink: [Acc<T>; TQ];
        let mut out: [Acc<T>; D / TK] = [0; D / TK];

        load q_s[i, d] = q[bx * TQ + i, d];
        load most[i] = Acc<T>::NEG_INFINITY;
        load total[i] = 0;
        barrier;
        phase p in tiles(M, TK) {
            load k_s[j, d] = k[p * TK + j, d];
            load v_s[j, d] = v[p * TK + j, d];
            barrier;
            // Here a work-item has one score, of query ty and key tx ...
            let mut score: Acc<T> = 0;
            for d in 0..D {
                score += q_s[ty, d] * k_s[tx, d];
            }
            let is_key = p * TK + tx < M;
            weights[ty, tx] = if is_key { score * scale as Acc<T> } else { Acc<T>::NEG_INFINITY };
            barrier;
            each i in TQ {
                let before = most[i];
                let mut now = before;
                for j in 0..TK {
                    now = max(now, weights[i, j]);
                }
                most[i] = now;
                shrink[i] = exp(before - now);
            }
            barrier;
            weights[ty, tx] = exp(weights[ty, tx] - most[ty]);
            barrier;
            each i in TQ {
                let mut sum = shrink[i] * total[i];
                for j in 0..TK {
                    sum += weights[i, j];
                }
                total[i] = sum;
            }
            // ... and here every TK-th element of the result of query ty, from tx on.
            for c in 0..D / TK {
                out[c] *= shrink[ty];
            }
            for j in 0..TK {
                for c in 0..D / TK {
                    out[c] += weights[ty, j] * v_s[j, c * TK + tx];
                }
            }
            barrier;
        }
        for c in 0..D / TK {
            o[bx * TQ + ty, c * TK + tx] = out[c] / total[ty];
        }
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "attention",
    about: "one head of attention, fused, with the online softmax",
    sizes: &["queries", "keys"],
    small: &[&[1, 1], &[3, 70], &[65, 33], &[130, 200]],
    full: &[1 << 14, 1 << 14],
    kernels: || vec![attention::kernel::<f32>(), attention::kernel::<f64>()],
    prepare: |device, sizes| Ok(Box::new(Head::<f32>::new(device, sizes, (|x| x, |x| x), 1e-5)?)),
};

/// The same with 16-bit inputs and results; sums are taken in `f32`.
pub const IN_F16: Entry = Entry {
    name: "attention_f16",
    about: "one head of attention of f16, with sums in f32",
    kernels: || vec![attention::kernel::<f16>(), attention::kernel::<bf16>()],
    prepare: |device, sizes| {
        Ok(Box::new(Head::<f16>::new(device, sizes, (f16::from_f32, f16::to_f32), 1e-3)?))
    },
    ..ENTRY
};

/// The head's width.
const D: usize = 64;
const SCALE: f32 = 0.125;
/// Queries whose result is computed in the reference, so that it ends.
const SAMPLE: usize = 200;

/// From `f32`, and back.
type Conversions<T> = (fn(f32) -> T, fn(T) -> f32);

struct Head<T: Float> {
    q: Tensor<T, 2>,
    k: Tensor<T, 2>,
    v: Tensor<T, 2>,
    o: Tensor<T, 2>,
    widen: fn(T) -> f32,
    expected: Vec<f64>,
    tolerance: f64,
}

impl<T: Float + Copy> Head<T> {
    fn new(
        device: &Device,
        sizes: &[usize],
        (narrow, widen): Conversions<T>,
        tolerance: f64,
    ) -> Result<Self, Failure> {
        let &[n, m] = sizes else { return Err(Failure::Sizes("two sizes".to_owned())) };
        if m == 0 {
            return Err(Failure::Sizes("a softmax is of one key at least".to_owned()));
        }
        let numbers = |seed, rows: usize| -> Result<Vec<T>, Failure> {
            Ok(floats(seed, rows * D)?.into_iter().map(|x| narrow(2.0 * x)).collect())
        };
        let (q, k, v) = (numbers(1, n)?, numbers(2, m)?, numbers(3, m)?);
        let wide = |x: &[T]| x.iter().map(|&x| f64::from(widen(x))).collect::<Vec<f64>>();
        let sample = n.min(SAMPLE);
        let expected = reference(&wide(&q[..sample * D]), &wide(&k), &wide(&v));
        Ok(Self {
            q: device.tensor([n, D], &q)?,
            k: device.tensor([m, D], &k)?,
            v: device.tensor([m, D], &v)?,
            o: device.zeros([n, D])?,
            widen,
            expected,
            tolerance,
        })
    }
}

/// Scores first, then their softmax, then the values: as the formula says.
fn reference(q: &[f64], k: &[f64], v: &[f64]) -> Vec<f64> {
    let mut out = Vec::new();
    for q in q.chunks(D) {
        let dot = |k: &[f64]| q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>();
        let scores: Vec<f64> = k.chunks(D).map(|k| dot(k) * f64::from(SCALE)).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
        let total: f64 = weights.iter().sum();
        let element = |d: usize| {
            weights.iter().zip(v.chunks(D)).map(|(weight, v)| weight * v[d]).sum::<f64>() / total
        };
        out.extend((0..D).map(element));
    }
    out
}

impl<T: Float + Copy> Prepared for Head<T> {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let configured = attention::with(options.clone());
        configured.launch(&self.q, &self.k, &self.v, SCALE, &mut self.o)
    }

    fn verify(&self) -> Result<(), Failure> {
        let mut found: Vec<f32> = self.o.to_vec()?.into_iter().map(self.widen).collect();
        found.truncate(self.expected.len());
        close("o", &found, &self.expected, self.tolerance)
    }

    fn cost(&self) -> Cost {
        let (n, m) = (self.q.shape()[0] as f64, self.k.shape()[0] as f64);
        let (d, bytes) = (D as f64, size_of::<T>() as f64);
        Cost { bytes: bytes * 2.0 * d * (n + m), flops: 4.0 * n * m * d }
    }
}
