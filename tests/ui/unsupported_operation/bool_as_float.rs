use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<bool, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i] as f32;
    }
}

fn main() {}
