use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; TN + 1];
        load s[j] = a[bx * TN + j];
        barrier;
        c[i] = s[tx + 1];
    }
}

tiled_kernel! {
    pub fn guarded<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; TN];
        s[tx] = a[i];
        barrier;
        if tx + 1 < TN {
            c[i] = s[tx + 1];
        }
    }
}

tiled_kernel! {
    pub fn transposed<T: Number>(a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [C, R]>)
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
    pub fn local_array(a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where tile: (TN, F = 3), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let mut x: [i32; F, F] = [0; F, F];
        for k in 0..F {
            x[k, F - 1 - k] = k as i32;
        }
        if i < N {
            c[i] = x[0, F - 1] + a[i];
        }
    }
}
