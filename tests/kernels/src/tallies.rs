//! Kernels whose work-items update common elements: histograms, sums and
//! extrema by `atomic`.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// How often each value is in `a`, added to `counts`; values beyond its end
    /// are not counted.
    pub fn histogram(a: &Tensor<i32, [N]>, counts: &mut Tensor<u32, [B]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            atomic counts[a[i]] += 1;
        }
    }
}

tiled_kernel! {
    /// The same for the values 0 to 63: each block counts in a tile first.
    pub fn shared_histogram(a: &Tensor<i32, [N]>, counts: &mut Tensor<u32, [B]>)
    where
        tile: (TN, F = 64),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        shared own: [u32; F];
        each b in F {
            own[b] = 0;
        }
        barrier;
        let i = bx * TN + tx;
        if i < N {
            atomic own[a[i]] += 1;
        }
        barrier;
        each b in F {
            atomic counts[b] += own[b];
        }
    }
}

tiled_kernel! {
    /// Sums and extrema of 32- and 64-bit integers: sum and difference, smallest
    /// and largest, and all bits together.
    pub fn integer_tallies(
        a: &Tensor<i32, [N]>,
        wide: &Tensor<u64, [N]>,
        narrow: &mut Tensor<i32, [4]>,
        totals: &mut Tensor<u64, [4]>,
    )
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            atomic narrow[0] += a[i];
            atomic narrow[1] -= a[i];
            atomic narrow[2].min(a[i]);
            atomic narrow[3].max(a[i]);
            atomic totals[0] += wide[i];
            atomic totals[1] &= wide[i];
            atomic totals[2] |= wide[i];
            atomic totals[3] ^= wide[i];
        }
    }
}

tiled_kernel! {
    /// Sums and extrema of floating-point numbers.
    pub fn float_tallies(
        a: &Tensor<f32, [N]>,
        wide: &Tensor<f64, [N]>,
        narrow: &mut Tensor<f32, [4]>,
        totals: &mut Tensor<f64, [4]>,
    )
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            atomic narrow[0] += a[i];
            atomic narrow[1] -= a[i];
            atomic narrow[2].min(a[i]);
            atomic narrow[3].max(a[i]);
            atomic totals[0] += wide[i];
            atomic totals[1] -= wide[i];
            atomic totals[2].min(wide[i]);
            atomic totals[3].max(wide[i]);
        }
    }
}
