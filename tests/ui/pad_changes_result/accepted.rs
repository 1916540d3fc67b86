use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn min_plus(
        #[pad = f32::INFINITY] a: &Tensor<f32, [M, K]>,
        #[pad = f32::INFINITY] b: &Tensor<f32, [K, N]>,
        c: &mut Tensor<f32, [M, N]>,
    )
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [f32; TM, TK];
        shared b_s: [f32; TK, TN];
        let mut best: Acc<f32> = f32::INFINITY;
        phase p in tiles(K, TK) {
            load a_s[i, k] = a[by * TM + i, p * TK + k];
            load b_s[k, j] = b[p * TK + k, bx * TN + j];
            barrier;
            for k in 0..TK {
                best = min(best, a_s[ty, k] + b_s[k, tx]);
            }
            barrier;
        }
        c[by * TM + ty, bx * TN + tx] = best;
    }
}

tiled_kernel! {
    pub fn neighbours<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i - 1] + a[i] + a[i + 1];
    }
}

tiled_kernel! {
    pub fn ranks(a: &Tensor<i32, [N]>, #[pad = 0] counts: &mut Tensor<u32, [B]>, ranks: &mut Tensor<u32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            let rank = atomic counts[a[i]] += 1;
            ranks[i] = rank;
        }
    }
}

tiled_kernel! {
    /// A table of constants, and what is beyond it.
    pub fn looked_up(
        #[pad = f32::NAN] table: &Constant<f32, [100]>,
        a: &Tensor<i32, [N]>,
        c: &mut Tensor<f32, [N]>,
    )
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = table[a[i]];
    }
}

tiled_kernel! {
    pub fn edge_rules(
        #[edge(clamp)] a: &Tensor<f32, [N]>,
        #[edge(wrap)] b: &Tensor<f32, [N]>,
        #[edge(reflect)] d: &Tensor<f32, [N]>,
        c: &mut Tensor<f32, [N]>,
    )
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i - 1].min(a[i]) * b[i + 1] / d[i - 3];
    }
}

tiled_kernel! {
    pub fn pool(x: &Tensor<f32, [B, C, H, W]>, y: &mut Tensor<f32, [B, C, H / 2, W / 2]>)
    where
        tile: (TY, TX),
        grid: (bc in B * C, by in tiles(H / 2, TY), bx in tiles(W / 2, TX)),
        block: (ty in TY, tx in TX),
    {
        let i = by * TY + ty;
        let j = bx * TX + tx;
        let mut m = f32::MIN;
        for di in 0..2 {
            for dj in 0..2 {
                m = max(m, x[bc / C, bc % C, 2 * i + di, 2 * j + dj]);
            }
        }
        y[bc / C, bc % C, i, j] = m;
    }
}

tiled_kernel! {
    pub fn lower_tiles(a: &Tensor<f32, [N, K]>, c: &mut Tensor<f32, [N, N]>)
    where tile: (T, TK), grid: (by in tiles(N, T), bx in tiles(N, T)), block: (ty in T, tx in T),
    {
        if bx > by {
            return;
        }
        shared d: [f32; T, TK];
        shared e: [f32; T, TK];
        let mut acc: Acc<f32> = 0;
        phase p in tiles(K, TK) {
            load d[r, k] = a[by * T + r, p * TK + k];
            load e[r, k] = a[bx * T + r, p * TK + k];
            barrier;
            for k in 0..TK {
                acc += d[ty, k] * e[tx, k];
            }
            barrier;
        }
        c[by * T + ty, bx * T + tx] = acc;
    }
}

tiled_kernel! {
    pub fn scaled(alpha: f32, #[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [1]>)
    where tile: (TN), grid: (bx in 1), block: (tx in TN),
    {
        let mut acc: Acc<f32> = 0;
        for k in (tx..N + 3).step_by(TN) {
            acc += alpha * a[k];
        }
        let sum = reduce_sum(acc);
        if tx == 0 {
            c[0] = sum;
        }
    }
}
