use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = c[i] + 1;
    }
}
