use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<f32, [A, B, C, D, E, F, N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[0, 0, 0, 0, 0, 0, i];
    }
}

fn main() {}
