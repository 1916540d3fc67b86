use tile_runtime::tiled_kernel;

tiled_kernel! {
    #[allow(TK0402)]
    pub fn by_block<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; TN];
        s[tx] = a[i];
        if bx > 0 {
            barrier;
        }
        c[i] = s[tx];
    }
}

tiled_kernel! {
    pub fn around<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN in 16..=256 step 16), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; TN];
        s[tx] = a[i];
        if tx < 16 {
            c[i] = a[i];
        }
        barrier;
        if tx < 16 {
            c[i] = s[15 - tx];
        }
    }
}

tiled_kernel! {
    #[allow(TK0402)]
    pub fn for_the_whole_block<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN in 16..=64 step 16), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; TN];
        if tx < 64 {
            s[tx] = a[i];
            barrier;
        }
        c[i] = s[tx];
    }
}

tiled_kernel! {
    /// Rows of a matrix in compressed form: the bounds of a row are the same for the block.
    pub fn rows(#[pad = 0] start: &Tensor<i32, [R]>, #[pad = 0] v: &Tensor<f32, [N]>, c: &mut Tensor<f32, [M]>)
    where tile: (TN), grid: (bx in M), block: (tx in TN),
    {
        shared s: [f32; TN];
        let mut sum = 0.0;
        for k in start[bx]..start[bx + 1] {
            load s[j] = v[k];
            barrier;
            sum += s[0];
            barrier;
        }
        if tx == 0 {
            c[bx] = sum;
        }
    }
}

tiled_kernel! {
    /// All barriers come before the first work-item leaves.
    pub fn return_after_barrier<T: Number>(n: i32, a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        if n > 5 {
            return;
        }
        let i = bx * TN + tx;
        shared s: [T; TN];
        s[tx] = a[i];
        barrier;
        if i >= N {
            return;
        }
        c[i] = s[0];
    }
}

tiled_kernel! {
    /// The block leaves the loop together, between its two barriers.
    pub fn break_between_barriers(
        n: i32,
        #[pad = 0] a: &Tensor<f32, [N]>,
        #[pad = 0] last: &Tensor<i32, [B]>,
        c: &mut Tensor<f32, [N]>,
    )
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [f32; TN];
        let mut y = a[i];
        for k in 0..64 {
            s[tx] = y;
            barrier;
            y += s[TN - 1 - tx];
            if k == n {
                break;
            }
            if k == last[bx] {
                return;
            }
            barrier;
        }
        c[i] = y;
    }
}

tiled_kernel! {
    /// Each work-item leaves its own loop when it likes: no barrier is inside.
    pub fn break_by_item(#[pad = 0] a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [i32; TN];
        s[tx] = a[i];
        barrier;
        let mut y = 0;
        for k in 0..TN {
            if k > tx || s[k] < 0 {
                break;
            }
            y += s[k];
        }
        c[i] = y;
    }
}

tiled_kernel! {
    /// What a reduction gives is the same for the block: it may decide about barriers.
    pub fn reductions(#[pad = 0] a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [i32; TN];
        let most = reduce_max(a[i]);
        let found = any(a[i] > 0);
        if found && a[i] > 0 {
            c[i] = most;
        }
        for k in 0..most {
            s[tx] = a[i];
            barrier;
            c[i] = s[TN - 1 - tx];
            barrier;
        }
    }
}

tiled_kernel! {
    pub fn old_value(a: &Tensor<i32, [N]>, out: &mut Tensor<u32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared seen: [u32; TN];
        load seen[k] = 0;
        barrier;
        let i = bx * TN + tx;
        let before = atomic seen[0] += 1;
        barrier;
        if before == 0 && i < N && a[i] > 0 {
            seen[0] = 7;
        }
        barrier;
        if i < N {
            out[i] = seen[0];
        }
    }
}

tiled_kernel! {
    /// A warp works together where its own work-items agree.
    pub fn warps(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN = 64), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let mut next = 0.0;
        if tx < 32 {
            next = shuffle_down(a[i], 1);
        }
        c[i] = next;
    }
}

tiled_kernel! {
    /// Nobody writes a constant: the block agrees on what stands at its own index.
    pub fn stretches(
        starts: &Constant<i32, [S + 1]>,
        #[pad = 0] x: &Tensor<f32, [N]>,
        sums: &mut Tensor<f32, [S]>,
    )
    where tile: (TN in [64]), grid: (b in S), block: (tx in TN),
    {
        shared s: [f32; TN];
        let mut sum = 0.0;
        for first in (starts[b]..starts[b + 1]).step_by(TN) {
            s[tx] = if first + tx < starts[b + 1] { x[first + tx] } else { 0.0 };
            barrier;
            for k in 0..TN {
                sum += s[k];
            }
            barrier;
        }
        if tx == 0 {
            sums[b] = sum;
        }
    }
}

tiled_kernel! {
    /// The last chunk is ragged: all fill the tile and pass the barrier.
    pub fn ragged_end(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; TN];
        let i = bx * TN + tx;
        if i < N {
            s[tx] = a[i];
        } else {
            s[tx] = 0.0;
        }
        barrier;
        if i < N {
            c[i] = s[TN - 1 - tx];
        }
    }
}
