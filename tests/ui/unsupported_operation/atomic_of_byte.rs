use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<u8, [N]>, sum: &mut Tensor<u8, [1]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        atomic sum[0] += a[bx * TN + tx];
    }
}

fn main() {}
