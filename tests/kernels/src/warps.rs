//! Kernels whose warps work together.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// `sums[r] = sum over c of a[r, c]`: each warp sums what it reads, the first
    /// one the sums of all.
    pub fn warp_totals<T: Number>(a: &Tensor<T, [R, C]>, sums: &mut Tensor<T, [R]>)
    where
        tile: (W in 1..=8),
        grid: (by in R),
        block: (w in W, lane in 32),
    {
        shared parts: [T; W];
        let mut sum: T = 0;
        for p in tiles(C, W * 32) {
            sum += a[by, (p * W + w) * 32 + lane];
        }
        let part = warp_sum(sum);
        if lane == 0 {
            parts[w] = part;
        }
        barrier;
        if w == 0 {
            let total = warp_sum(if lane < W { parts[lane] } else { 0 });
            if lane == 0 {
                sums[by] = total;
            }
        }
    }
}

tiled_kernel! {
    /// What the 50 work-items of a block get of each other: from 3 lanes further
    /// on, from 2 before, from the lane with its lowest bits flipped, and from the
    /// lane that `from` names.
    pub fn neighbours<T: Number>(
        #[pad = 0] from: &Tensor<i32, [N]>,
        #[pad = 0] a: &Tensor<T, [N]>,
        down: &mut Tensor<T, [N]>,
        up: &mut Tensor<T, [N]>,
        flipped: &mut Tensor<T, [N]>,
        named: &mut Tensor<T, [N]>,
    )
    where
        tile: (TN = 50),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        let value = a[i];
        down[i] = shuffle_down(value, 3);
        up[i] = shuffle_up(value, 2);
        flipped[i] = shuffle_xor(value, 5);
        named[i] = shuffle(value, from[i]);
    }
}

tiled_kernel! {
    /// The lanes of each warp with an odd value, as bits; `found[i]` is how many
    /// they are, `least` and `most` its extreme values, `alike` whether they are
    /// all odd. The last warp has 8 work-items.
    pub fn votes(
        #[pad = 0] a: &Tensor<i32, [N]>,
        bits: &mut Tensor<u32, [N]>,
        found: &mut Tensor<i32, [N]>,
        least: &mut Tensor<i32, [N]>,
        most: &mut Tensor<i32, [N]>,
        alike: &mut Tensor<bool, [N]>,
    )
    where
        tile: (TN = 40),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        let odd = a[i] & 1 == 1;
        bits[i] = ballot(odd);
        found[i] = warp_sum(odd as i32);
        let mut own_least = a[i];
        let mut own_most = a[i];
        if ballot(odd) != 0 {
            own_least = warp_min(a[i]);
            own_most = warp_max(a[i]);
        }
        least[i] = own_least;
        most[i] = own_most;
        let none = !warp_any(odd);
        alike[i] = warp_all(odd) || none;
    }
}

tiled_kernel! {
    /// `running[r, c]` is the sum of `a[r, c]` and what stands before it in its run
    /// of 32: by shuffles, in loops that warps leave at times of their own.
    pub fn warp_scans<T: Number>(
        #[pad = 0] rounds: &Tensor<i32, [R]>,
        #[pad = 0] a: &Tensor<T, [R, C]>,
        running: &mut Tensor<T, [R, C]>,
    )
    where
        tile: (W in [2, 4]),
        grid: (bx in tiles(C, 32), by in tiles(R, W)),
        block: (w in W, lane in 32),
    {
        let r = by * W + w;
        let c = bx * 32 + lane;
        let mut sum = a[r, c];
        let mut reach = 1;
        for _k in 0..min(rounds[r], 5) {
            let before = shuffle_up(sum, reach);
            if lane >= reach {
                sum += before;
            }
            reach = reach * 2;
        }
        running[r, c] = sum;
    }
}

tiled_kernel! {
    /// `sums[b]` is the sum of 64 values: the last warp of the tree goes on alone.
    pub fn tree_sums<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, sums: &mut Tensor<T, [B]>)
    where
        tile: (TN = 64),
        grid: (bx in B),
        block: (tx in TN),
    {
        shared s: [T; TN];
        s[tx] = a[bx * TN + tx];
        barrier;
        if tx < 32 {
            for d in halving(TN) {
                let mut value = s[tx];
                if tx < d {
                    value = value + s[tx + d];
                }
                warp_barrier;
                s[tx] = value;
                warp_barrier;
            }
        }
        if tx == 0 {
            sums[bx] = s[0];
        }
    }
}

tiled_kernel! {
    /// Rows of 32 numbers, a warp a block: while one of them is more than 9, each is halved, and a
    /// larger one than its mirror has half of that one's half besides; where many are odd in the
    /// end, each takes the next one's with how many they are.
    pub fn lone_rounds(a: &Tensor<u32, [R, 32]>, ends: &mut Tensor<u32, [R, 32]>)
    where
        grid: (by in R),
        block: (lane in 32),
    {
        shared s: [u32; 32];
        let mut own = a[by, lane];
        while warp_any(own > 9) {
            s[lane] = own;
            barrier;
            let other = s[31 - lane];
            own = if own > other { own / 2 + other / 4 } else { own / 2 };
            barrier;
        }
        let odd = ballot(own % 2 == 1).count_ones();
        let most = shuffle(warp_max(own), 7);
        if odd > 4 && most > 1 {
            s[lane] = own + odd;
            barrier;
            own = s[(lane + 1) % 32];
        }
        ends[by, lane] = own;
    }
}
