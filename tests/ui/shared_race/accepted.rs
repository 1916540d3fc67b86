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

fn main() {}
