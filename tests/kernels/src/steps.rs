//! Kernels whose barriers stand in control flow that takes thought: bounds that
//! are the same for the block only for a time, or only because of their sizes.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// Each tile reversed, then three times a neighbour's value added: the value
    /// of the work-item `k` further on, for `k` of 3, 2, 1. `k` is a work-item's
    /// own number before and after.
    pub fn reused_counter(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [i32; TN];
        s[tx] = x[i];
        barrier;
        let mut k = TN - 1 - tx;
        let mut sum = s[k];
        barrier;
        k = 3;
        while k > 0 {
            s[tx] = sum;
            barrier;
            sum += s[(tx + k) % TN];
            barrier;
            k -= 1;
        }
        k = k + tx;
        c[i] = sum + (k as i32);
    }
}

tiled_kernel! {
    /// Each tile reversed, by code that only looks as if not all come by.
    pub fn idle_conditions(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN in 1..=64),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [i32; TN];
        s[tx] = x[i];
        if tx < 64 {
            barrier;
        }
        if tx >= TN {
            barrier;
            c[i] = 0 - 1;
        } else {
            c[i] = s[TN - 1 - tx];
        }
    }
}

tiled_kernel! {
    /// For each element the sum of those before it in its tile, up to the first
    /// above 40 and without multiples of 3; nothing where 13 comes before that.
    pub fn early_exits(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [i32; TN];
        s[tx] = x[i];
        barrier;
        if i >= N {
            return;
        }
        let mut sum = 0;
        for k in 0..tx {
            let y = s[k];
            if y > 40 {
                break;
            }
            if y % 3 == 0 {
                continue;
            }
            if y == 13 {
                return;
            }
            sum += y;
        }
        c[i] = sum;
    }
}
