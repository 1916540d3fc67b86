use tile_runtime::tiled_kernel;

// The step of the lanes is what shrinks, not what grows.
tiled_kernel! {
    #[deny(bank_conflicts, unused_must_use, device = "H200", N = 1_048_576, TN = 256)]
    pub fn sum_of_tiles(#[pad = 0] x: &Tensor<f32, [N]>, sums: &mut Tensor<f32, [tiles(N, TN)]>)
    where
        tile: (TN in pow2(32..=1024)),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        shared s: [f32; TN];
        s[tx] = x[bx * TN + tx];
        barrier;
        for d in halving(TN) {
            if tx < d {
                s[tx] += s[tx + d];
            }
            barrier;
        }
        if tx == 0 {
            sums[bx] = s[0];
        }
    }
}

// Neighbouring work-items have neighbouring columns.
tiled_kernel! {
    #[deny(uncoalesced, device = "H200", T = f32, M = 65536, N = 4096)]
    pub fn sums_of_columns<T: Float>(x: &Tensor<T, [M, N]>, sums: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let col = bx * TN + tx;
        let mut sum: Acc<T> = 0;
        for k in 0..M {
            sum += x[k, col];
        }
        sums[col] = sum;
    }
}

// A tile that turns corners, read once: it saves no traffic, and is not there for that.
tiled_kernel! {
    #[deny(low_occupancy, device = "H200", T = f32, R = 4096, C = 4096)]
    #[deny(tile_without_reuse, uncoalesced, device = "H200", T = f32, R = 4096, C = 4096)]
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

// Lints of the compiler's own.
tiled_kernel! {
    #[deny(unused, reason = "shown")]
    pub fn copy(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = a[bx * TN + tx];
    }
}
