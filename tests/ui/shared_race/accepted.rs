use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn matmul<T: Number>(a: &Tensor<T, [M, K]>, b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
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
        c[by * TM + ty, bx * TN + tx] = acc;
    }
}

tiled_kernel! {
    pub fn transpose<T: Element>(a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [C, R]>)
    where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)),
    {
        shared s: [T; TR, TC];
        load s[i, j] = a[by * TR + i, bx * TC + j];
        barrier;
        each (j, i) in (TC, TR) {
            b[bx * TC + j, by * TR + i] = s[i, j];
        }
    }
}

tiled_kernel! {
    /// Transposes each square tile of a matrix in its place.
    pub fn block_transpose<T: Number>(#[pad = 0] a: &mut Tensor<T, [R, C]>)
    where tile: (B), grid: (by in tiles(R, B), bx in tiles(C, B)), block: (ty in B, tx in B),
    {
        shared s: [T; B, B];
        s[ty, tx] = a[by * B + ty, bx * B + tx];
        barrier;
        a[by * B + ty, bx * B + tx] = s[tx, ty];
    }
}

tiled_kernel! {
    pub fn one_writer<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; 1];
        if tx == 0 {
            s[0] = a[i];
        }
        barrier;
        c[i] = s[0];
    }
}

tiled_kernel! {
    pub fn reduction<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [B]>)
    where tile: (TN in pow2(32..=256)), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [T; TN];
        s[tx] = a[bx * TN + tx];
        for st in halving(TN) {
            barrier;
            if tx < st {
                s[tx] += s[tx + st];
            }
        }
        if tx == 0 {
            c[bx] = s[0];
        }
    }
}

tiled_kernel! {
    pub fn histogram(counts: &mut Tensor<u32, [N]>)
    where tile: (TN, F = 64), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared own: [u32; F];
        each b in F { own[b] = 0; }
        barrier;
        atomic own[tx % F] += 1;
        barrier;
        each b in F {
            atomic counts[b] += own[b];
        }
    }
}

tiled_kernel! {
    /// An array of each work-item's own.
    pub fn local_array(a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let mut x: [i32; 2] = [0; 2];
        x[0] = 1;
        x[1] += x[0];
        if i < N {
            c[i] = a[i] + x[1];
        }
    }
}

tiled_kernel! {
    /// A warp's barrier stands between what its work-items read and what they write.
    pub fn warp_tree(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [B]>)
    where tile: (TN = 64), grid: (bx in B), block: (tx in TN),
    {
        shared s: [f32; TN];
        s[tx] = a[bx * TN + tx];
        barrier;
        if tx < 32 {
            for d in halving(TN) {
                let mut sum = s[tx];
                if tx < d {
                    sum += s[tx + d];
                }
                warp_barrier;
                s[tx] = sum;
                warp_barrier;
            }
        }
        if tx == 0 {
            c[bx] = s[0];
        }
    }
}

tiled_kernel! {
    /// Three points through a tile with a cell more on both sides.
    pub fn halo_of_a_row(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN in 2..=256), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [f32; TN + 2];
        s[tx + 1] = a[i];
        if tx == 0 {
            s[0] = a[i - 1];
        }
        if tx == TN - 1 {
            s[TN + 1] = a[i + 1];
        }
        barrier;
        c[i] = s[tx] + s[tx + 1] + s[tx + 2];
    }
}

tiled_kernel! {
    /// Five points through a tile with a border.
    pub fn halo_of_a_plane(#[pad = 0] a: &Tensor<f32, [H, W]>, c: &mut Tensor<f32, [H, W]>)
    where tile: (TY in 2..=32, TX in 2..=32), grid: (by in tiles(H, TY), bx in tiles(W, TX)), block: (ty in TY, tx in TX),
    {
        shared s: [f32; TY + 2, TX + 2];
        load s[i, j] = a[by * TY + i - 1, bx * TX + j - 1];
        barrier;
        c[by * TY + ty, bx * TX + tx] = s[ty, tx + 1] + s[ty + 2, tx + 1] + s[ty + 1, tx] + s[ty + 1, tx + 2];
    }
}

tiled_kernel! {
    /// A tree in which neighbours at growing distance are added.
    pub fn tree_of_neighbours(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [B]>)
    where tile: (TN in [64, 128, 256]), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; TN];
        s[tx] = a[bx * TN + tx];
        for d in doubling(TN) {
            barrier;
            if tx % (2 * d) == 0 {
                s[tx] += s[tx + d];
            }
        }
        if tx == 0 {
            c[bx] = s[0];
        }
    }
}

tiled_kernel! {
    /// A tree in which the upper half is added to the lower one.
    pub fn tree_of_halves(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [B]>)
    where tile: (TN in pow2(32..=256)), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; TN];
        s[tx] = a[bx * TN + tx];
        barrier;
        for d in halving(TN) {
            if tx < d {
                s[tx] += s[tx + d];
            }
            barrier;
        }
        if tx == 0 {
            c[bx] = s[0];
        }
    }
}

tiled_kernel! {
    /// Prefix sums in one buffer: all read, then all write.
    pub fn scan_by_doubling(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN in pow2(32..=256)), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; TN];
        let i = bx * TN + tx;
        s[tx] = a[i];
        barrier;
        for d in doubling(TN) {
            let mut sum = s[tx];
            if tx >= d {
                sum += s[tx - d];
            }
            barrier;
            s[tx] = sum;
            barrier;
        }
        c[i] = s[tx];
    }
}

tiled_kernel! {
    /// Prefix sums between two buffers, which take turns.
    pub fn scan_by_turns(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN in pow2(32..=256)), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; 2, TN];
        let i = bx * TN + tx;
        s[0, tx] = a[i];
        let mut from = 0;
        for d in doubling(TN) {
            barrier;
            let mut sum = s[from, tx];
            if tx >= d {
                sum += s[from, tx - d];
            }
            s[1 - from, tx] = sum;
            from = 1 - from;
        }
        c[i] = s[from, tx];
    }
}

tiled_kernel! {
    /// Prefix sums up and down a tree. Work-item 0 alone is in the last round upwards, so the
    /// barrier behind it orders nothing.
    #[allow(redundant_barrier)]
    pub fn scan_up_and_down(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN in [64, 128, 256]), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; TN];
        let i = bx * TN + tx;
        s[tx] = a[i];
        for d in doubling(TN) {
            barrier;
            let at = 2 * d * (tx + 1) - 1;
            if at < TN {
                s[at] += s[at - d];
            }
        }
        barrier;
        if tx == 0 {
            s[TN - 1] = 0.0;
        }
        for d in halving(TN) {
            barrier;
            let at = 2 * d * (tx + 1) - 1;
            if at < TN {
                let left = s[at - d];
                s[at - d] = s[at];
                s[at] += left;
            }
        }
        barrier;
        c[i] = s[tx];
    }
}

tiled_kernel! {
    /// Steps between two halves of a tile, by the parity of the step.
    pub fn turns_by_parity(n: i32, #[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN in [32, 64]), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; 2, TN];
        let i = bx * TN + tx;
        s[0, tx] = a[i];
        for step in 0..n {
            barrier;
            s[(step + 1) % 2, tx] = s[step % 2, (tx + 1) % TN];
        }
        let last = if n > 0 { n % 2 } else { 0 };
        c[i] = s[last, tx];
    }
}

tiled_kernel! {
    /// Four strips of a tile, read back in reverse.
    pub fn strips(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN in 2..=256), grid: (bx in tiles(N, 4 * TN)), block: (tx in TN),
    {
        shared s: [f32; 4 * TN];
        for i in 0..4 {
            s[i * TN + tx] = a[bx * 4 * TN + i * TN + tx];
        }
        barrier;
        for i in 0..4 {
            c[bx * 4 * TN + i * TN + tx] = s[4 * TN - 1 - i * TN - tx];
        }
    }
}

tiled_kernel! {
    /// A plane in a flat tile, rows turned by one.
    pub fn flat_plane(#[pad = 0] a: &Tensor<f32, [H, W]>, c: &mut Tensor<f32, [H, W]>)
    where tile: (TY in [4, 8], TX in [16, 32]), grid: (by in tiles(H, TY), bx in tiles(W, TX)), block: (ty in TY, tx in TX),
    {
        shared s: [f32; TY * TX];
        s[ty * TX + tx] = a[by * TY + ty, bx * TX + tx];
        barrier;
        c[by * TY + ty, bx * TX + tx] = s[ty * TX + (tx + 1) % TX];
    }
}

tiled_kernel! {
    /// A transpose whose columns are exchanged in the tile.
    pub fn transpose_by_swizzle(#[pad = 0] a: &Tensor<f32, [R, C]>, b: &mut Tensor<f32, [C, R]>)
    where grid: (by in tiles(R, 32), bx in tiles(C, 32)), block: (ty in 8, tx in 32),
    {
        shared s: [f32; 32, 32];
        for k in (0..32).step_by(8) {
            s[ty + k, tx ^ (ty + k)] = a[by * 32 + ty + k, bx * 32 + tx];
        }
        barrier;
        for k in (0..32).step_by(8) {
            b[bx * 32 + ty + k, by * 32 + tx] = s[tx, (ty + k) ^ tx];
        }
    }
}

tiled_kernel! {
    /// A transpose through a tile with a column more than it needs.
    pub fn transpose_with_a_column_more(#[pad = 0] a: &Tensor<f32, [R, C]>, b: &mut Tensor<f32, [C, R]>)
    where grid: (by in tiles(R, 32), bx in tiles(C, 32)), block: (ty in 8, tx in 32),
    {
        shared s: [f32; 32, 33];
        for k in (0..32).step_by(8) {
            s[ty + k, tx] = a[by * 32 + ty + k, bx * 32 + tx];
        }
        barrier;
        for k in (0..32).step_by(8) {
            b[bx * 32 + ty + k, by * 32 + tx] = s[tx, ty + k];
        }
    }
}

tiled_kernel! {
    /// A row of work-items for each row of a matrix, their sums added by the first.
    pub fn partial_sums(#[pad = 0] a: &Tensor<f32, [R, C]>, #[pad = 0] x: &Tensor<f32, [C]>, y: &mut Tensor<f32, [R]>)
    where tile: (TY in 2..=32, TX in 2..=32), grid: (by in tiles(R, TY)), block: (ty in TY, tx in TX),
    {
        shared s: [f32; TY, TX];
        let mut sum = 0.0;
        for k in (tx..C).step_by(TX) {
            sum += a[by * TY + ty, k] * x[k];
        }
        s[ty, tx] = sum;
        barrier;
        if tx == 0 {
            let mut row = 0.0;
            for k in 0..TX {
                row += s[ty, k];
            }
            y[by * TY + ty] = row;
        }
    }
}

tiled_kernel! {
    /// A bitonic sort: of each pair the lower work-item compares.
    pub fn bitonic_sort(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where grid: (bx in tiles(N, 128)), block: (tx in 128),
    {
        shared s: [f32; 128];
        s[tx] = a[bx * 128 + tx];
        for k in doubling(128) {
            for d in halving(2 * k) {
                barrier;
                let other = tx ^ d;
                if other > tx {
                    let low = min(s[tx], s[other]);
                    let high = max(s[tx], s[other]);
                    let up = tx & (2 * k) == 0;
                    s[tx] = if up { low } else { high };
                    s[other] = if up { high } else { low };
                }
            }
        }
        barrier;
        c[bx * 128 + tx] = s[tx];
    }
}
