use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<f32, [N]>, sum: &mut Tensor<f32, [1]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        sum[0] += a[bx * TN + tx];
    }
}

fn main() {}
