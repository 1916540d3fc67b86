//! Kernels that use what atomic updates found: queues, ranks, exchanges.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// The positive elements of `a`, in any order, and how many they are.
    pub fn positives(a: &Tensor<i32, [N]>, count: &mut Tensor<u32, [1]>, out: &mut Tensor<i32, [M]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N && a[i] > 0 {
            let slot = atomic count[0] += 1;
            out[slot] = a[i];
        }
    }
}

tiled_kernel! {
    /// The even elements of each block's part of `a`, in any order, at the front of
    /// that part of `out`; zeros behind them. Each block queues them in a tile.
    pub fn evens_first(a: &Tensor<i32, [N]>, out: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        shared count: [u32; 1];
        shared queue: [i32; TN];
        queue[tx] = 0;
        if tx == 0 {
            count[0] = 0;
        }
        barrier;
        let i = bx * TN + tx;
        if i < N && a[i] % 2 == 0 {
            let slot = atomic count[0] += 1;
            queue[slot] = a[i];
        }
        barrier;
        if i < N {
            out[i] = queue[tx];
        }
    }
}

tiled_kernel! {
    /// Each element of `a` names a row of `rows`: puts the element's place into that
    /// row, in any order, and twice, one after the other.
    pub fn places_by_value(
        a: &Tensor<i32, [N]>,
        counts: &mut Tensor<u32, [B]>,
        rows: &mut Tensor<i64, [B, W]>,
    )
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        let row = a[i] as index;
        if i < N && in_bounds(counts[row]) {
            let first = atomic counts[row] += 2;
            for copy in 0..2 {
                rows[row, first + copy] = i as i64;
            }
        }
    }
}

tiled_kernel! {
    /// Every work-item leaves its number and takes what it finds: in `before` stands
    /// what each one took. The first to come to a free lock gets it: `got`.
    pub fn exchanges(
        a: &Tensor<i32, [N]>,
        last: &mut Tensor<i32, [1]>,
        #[pad = 0] lock: &mut Tensor<u64, [4]>,
        before: &mut Tensor<i32, [N]>,
        got: &mut Tensor<u64, [N]>,
    )
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            let old = atomic last[0].swap(a[i]);
            before[i] = old;
            let held = atomic lock[i % 4].compare_exchange(0, i as u64 + 1);
            got[i] = held;
        }
    }
}

tiled_kernel! {
    /// The same with floating-point numbers, and the largest before each.
    pub fn float_exchanges(
        a: &Tensor<f32, [N]>,
        last: &mut Tensor<f64, [1]>,
        most: &mut Tensor<f32, [1]>,
        slot: &mut Tensor<f32, [1]>,
        before: &mut Tensor<f64, [N]>,
        seen: &mut Tensor<f32, [N]>,
        held: &mut Tensor<f32, [N]>,
    )
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            let old = atomic last[0].swap(a[i] as f64);
            before[i] = old;
            let largest = atomic most[0].max(a[i]);
            seen[i] = largest;
            let mut was = atomic slot[0].compare_exchange(-1.0, a[i]);
            was = was * 2.0;
            held[i] = was;
        }
    }
}

tiled_kernel! {
    /// `total` is multiplied by every element of `a`, wrapping: an update that no
    /// processor has, made by trying until nobody came in between.
    pub fn product_by_exchange(a: &Tensor<u32, [N]>, total: &mut Tensor<u32, [1]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            let mut seen: u32 = 0;
            let mut done = false;
            while !done {
                let old = atomic total[0].compare_exchange(seen, seen * a[i]);
                done = old == seen;
                seen = old;
            }
        }
    }
}
