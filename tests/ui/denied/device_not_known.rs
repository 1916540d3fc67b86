use tile_runtime::tiled_kernel;

tiled_kernel! {
    #[deny(uncoalesced, device = "GTX 280", N = 4096)]
    pub fn copy(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = a[bx * TN + tx];
    }
}

fn main() {}
