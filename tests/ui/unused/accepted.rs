#![deny(deprecated)]

use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn underscore<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let _x = a[i];
        c[i] = a[i];
    }
}

tiled_kernel! {
    #[allow(TK0502)]
    pub fn silenced<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let x = a[i];
        c[i] = a[i];
    }
}
