//! Kernels whose work-items share nothing: `add`, `saxpy`.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// `c = a + b`.
    pub fn add<T: Number>(a: &Tensor<T, [N]>, b: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i] + b[i];
    }
}

tiled_kernel! {
    /// `y = alpha · x + y`: one fused multiply-add per element.
    pub fn saxpy<T: Number>(alpha: T, x: &Tensor<T, [N]>, y: &mut Tensor<T, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        y[i] = alpha * x[i] + y[i];
    }
}
