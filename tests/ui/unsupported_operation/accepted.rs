use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn roots<T: Float>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i].sqrt();
    }
}

tiled_kernel! {
    pub fn shifts<T: Integer>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i] << 1;
    }
}

tiled_kernel! {
    pub fn reductions<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>, d: &mut Tensor<i32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = reduce_sum(a[bx * TN + tx]);
        d[bx * TN + tx] = reduce_max(tx as i32);
    }
}

tiled_kernel! {
    pub fn exchange(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [1]>, out: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            let old = atomic c[0].swap(a[i]);
            out[i] = old;
        }
    }
}

tiled_kernel! {
    fn gelu<T: Float>(x: T) -> T {
        0.5 * x * (1.0 + tanh(0.797_884_6 * (x + 0.044_715 * x * x * x)))
    }

    fn odd(n: i32) -> bool {
        n % 2 != 0
    }

    fn even(n: i32) -> bool {
        !odd(n)
    }

    pub fn functions<T: Float>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>, d: &mut Tensor<bool, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = gelu(a[i]);
        d[i] = even(tx as i32);
    }
}
