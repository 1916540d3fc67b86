//! Kernels in which a value is carried where an optimiser might think it is not:
//! from one iteration to the next, from a store to a later load, from the end of
//! one tile's use to the beginning of another's. Each gives other results as
//! soon as the rule beside it is broken.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// `sums[r, c] = a[r, c] + … + a[r, c - 3]`, through a window that slides.
    ///
    /// Rule: a tile gets several buffers only where each cell read in an
    /// iteration was written in that iteration. Three of the window's four were
    /// written before.
    pub fn sliding_sums<T: Number>(a: &Tensor<T, [R, C]>, sums: &mut Tensor<T, [R, C]>)
    where
        tile: (TR),
        grid: (by in tiles(R, TR)),
        block: (ty in TR),
    {
        shared window: [T; TR, 4];
        load window[i, j] = 0;
        barrier;
        phase c in 0..C {
            load window[i, j] = if c % 4 == j { a[by * TR + i, c] } else { window[i, j] };
            barrier;
            let sum = (window[ty, 0] + window[ty, 1]) + (window[ty, 2] + window[ty, 3]);
            sums[by * TR + ty, c] = sum;
            barrier;
        }
    }
}

tiled_kernel! {
    /// Each chunk of a row becomes its sum with the chunk before it, as that has
    /// become: `x[r, c] += x[r, c - TC]`, chunk by chunk.
    ///
    /// Rules: a load moves ahead only where its source is not written in the
    /// phase; the read-only path is for tensors that the kernel never writes.
    pub fn chained_chunks<T: Number>(#[pad = 0] x: &mut Tensor<T, [R, C]>)
    where
        tile: (TC),
        grid: (by in R),
        block: (tx in TC),
    {
        shared before: [T; TC];
        phase p in tiles(C, TC) {
            load before[i] = x[by, p * TC + i - TC];
            barrier;
            x[by, p * TC + tx] = x[by, p * TC + tx] + before[tx];
            barrier;
        }
    }
}

tiled_kernel! {
    /// Reverses each chunk of a row, then adds its neighbour in the reversed
    /// chunk: two tiles, the second written from the first.
    ///
    /// Rule: two tiles share memory only where a barrier separates their uses.
    /// None stands between the last read of `forth` and the first write of
    /// `back`.
    pub fn reversed_pairs<T: Number>(#[pad = 0] a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [R, C]>)
    where
        tile: (TC),
        grid: (by in R, bx in tiles(C, TC)),
        block: (tx in TC),
    {
        shared forth: [T; TC];
        shared back: [T; TC];
        load forth[i] = a[by, bx * TC + i];
        barrier;
        back[tx] = forth[TC - 1 - tx];
        barrier;
        b[by, bx * TC + tx] = back[tx] + back[(tx + 1) % TC];
    }
}

tiled_kernel! {
    /// `q = a / b` where that is a quotient, -1 where `b` is 0.
    ///
    /// Rule: a division leaves its condition only where its divisor is provably
    /// not zero.
    pub fn quotients(a: &Tensor<i32, [N]>, b: &Tensor<i32, [N]>, q: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        let mut quotient: i32 = -1;
        if b[i] != 0 {
            quotient = a[i] / b[i];
        }
        q[i] = quotient;
    }
}

tiled_kernel! {
    /// The transpose, with the number of its block added to each element.
    ///
    /// Rule: a block stores an element of another's part only where it is the same
    /// from both.
    pub fn stamped_transpose(a: &Tensor<i32, [R, C]>, b: &mut Tensor<i32, [C, R]>)
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
    {
        shared s: [i32; TR, TC];
        load s[i, j] = a[by * TR + i, bx * TC + j];
        barrier;
        each (j, i) in (TC, TR) {
            b[bx * TC + j, by * TR + i] = s[i, j] + 100 * by as i32;
        }
    }
}
