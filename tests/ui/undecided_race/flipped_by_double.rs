use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i ^ (2 * i)] = a[i];
    }
}

fn main() {}
