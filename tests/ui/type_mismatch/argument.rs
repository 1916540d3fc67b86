use tile_runtime::tiled_kernel;

tiled_kernel! {
    fn scaled(x: f32, by: i32) -> f32 {
        x * by
    }

    pub fn k(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = scaled(2, a[i]);
    }
}

fn main() {}
