use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(#[pad = 1] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN in 32..=64 step 32), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i];
    }
}

tiled_kernel! {
    pub fn two_axes_in_one<T: Element>(a: &Tensor<T, [B, C, H, W]>, c: &mut Tensor<T, [B, C, H, W]>)
    where tile: (TH, TW), grid: (bc in B * C, by in tiles(H, TH), bx in tiles(W, TW)), block: (ty in TH, tx in TW),
    {
        c[bc / C, bc % C, by * TH + ty, bx * TW + tx] = a[bc / C, bc % C, by * TH + ty, bx * TW + tx];
    }
}
