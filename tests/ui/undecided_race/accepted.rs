use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn gather<T: Number>(#[pad = 0] a: &Tensor<T, [M]>, ind: &Tensor<i32, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[ind[i]];
    }
}

tiled_kernel! {
    /// Not linear, but of few sizes.
    pub fn listed<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN in [32, 64, 128]), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; TN + 4];
        load s[k] = 0;
        barrier;
        s[tx ^ 3] = a[i];
        barrier;
        c[i] = s[tx];
    }
}

tiled_kernel! {
    pub fn histogram(#[pad = 0] a: &Tensor<i32, [N]>, counts: &mut Tensor<u32, [B]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            atomic counts[a[i]] += 1;
        }
    }
}

tiled_kernel! {
    /// A queue: each slot of a counter is one work-item's.
    pub fn queue(a: &Tensor<i32, [N]>, count: &mut Tensor<u32, [1]>, out: &mut Tensor<i32, [M]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N && a[i] > 0 {
            let slot = atomic count[0] += 2;
            out[slot] = a[i];
            out[slot + 1] = -a[i];
        }
    }
}

tiled_kernel! {
    /// A queue of each block, and two ways into it.
    pub fn queue_of_a_block(a: &Tensor<i32, [N]>, out: &mut Tensor<i32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared count: [u32; 1];
        if tx == 0 {
            count[0] = 0;
        }
        barrier;
        let i = bx * TN + tx;
        if i < N && a[i] > 0 {
            let slot = atomic count[0] += 1;
            if slot < TN {
                out[bx * TN + slot] = a[i];
            }
        }
        if i < N && a[i] <= 0 {
            let slot = atomic count[0] += 1;
            if slot < TN {
                out[bx * TN + slot] = a[i];
            }
        }
    }
}

tiled_kernel! {
    /// One of all is first.
    pub fn first(a: &Tensor<i32, [N]>, count: &mut Tensor<u32, [1]>, out: &mut Tensor<i32, [1]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let before = atomic count[0] += 1;
        if before == 0 && i < N {
            out[0] = a[i];
        }
    }
}

tiled_kernel! {
    /// A permutation: no two elements go to one place.
    pub fn scatter<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, ind: &Tensor<i32, [N]>, c: &mut Tensor<T, [M]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        assume(distinct(ind));
        let i = bx * TN + tx;
        if i < N {
            c[ind[i]] = a[i];
        }
    }
}

tiled_kernel! {
    /// One of four places of its own for each element.
    pub fn slots<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, #[pad = 0] slot: &Tensor<i32, [N]>, c: &mut Tensor<T, [M]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let k = slot[i];
        assume(k >= 0 && k < 4);
        c[4 * i + k] = a[i];
    }
}

tiled_kernel! {
    pub fn distinct_and_inside(#[pad = 0] ids: &Tensor<i32, [N]>, x: &Tensor<f32, [N]>, out: &mut Tensor<f32, [V]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        assume(distinct(ids));
        let i = bx * TN + tx;
        if in_bounds(ids[i]) {
            out[ids[i]] += x[i];
        }
    }
}

tiled_kernel! {
    pub fn room_for_all(#[pad = 0] a: &Tensor<f32, [N]>, out: &mut Tensor<f32, [M]>, #[pad = 0] total: &mut Tensor<u32, [1]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared base: [u32; 1];
        let i = bx * TN + tx;
        let keep = a[i] > 0.0;
        let rank = scan_sum_exclusive(keep as u32);
        let count = reduce_sum(keep as u32);
        if tx == 0 {
            let first = atomic total[0] += count;
            base[0] = first;
        }
        barrier;
        if keep {
            out[base[0] + rank] = a[i];
        }
    }
}

tiled_kernel! {
    /// Where each goes is said to be its own.
    pub fn merge(keys: &Tensor<i32, [R, 64]>, c: &mut Tensor<i32, [R, 64]>)
    where grid: (by in R), block: (tx in 64),
    {
        shared s: [i32; 64];
        s[tx] = keys[by, tx];
        barrier;
        let mut before = 0;
        for k in 0..32 {
            if s[(tx / 32 * 32 ^ 32) + k] < s[tx] { before += 1; }
        }
        assume(distinct_in_block(tx % 32 + before));
        c[by, tx % 32 + before] = s[tx];
    }
}

tiled_kernel! {
    /// An `index` does not wrap.
    pub fn fill(o: &mut Tensor<f32, [N]>, first: &Tensor<u32, [1]>, end: u32)
    where grid: (bx in 1), block: (tx in 96),
    {
        for i in (first[0] as index + tx..end as index).step_by(96) {
            o[i] = 1.0;
        }
    }
}
