use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; TN];
        let mut x: T;
        if i > 0 {
            x = a[i];
        } else {
            x = 0;
        }
        s[tx] = x;
        c[i] = a[i] + s[tx];
    }
}

tiled_kernel! {
    pub fn local_array(a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let mut x: [i32; 4];
        for k in 0..4 {
            x[k] = k as i32;
        }
        if i < N && a[i] >= 0 && a[i] < 4 {
            c[i] = x[a[i]];
        }
    }
}
