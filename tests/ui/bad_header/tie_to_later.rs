use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TA = TN, TN), grid: (bx in tiles(N, TN)), block: (tx in TA),
    {
        c[bx * TN + tx] = a[bx * TN + tx];
    }
}

fn main() {}
