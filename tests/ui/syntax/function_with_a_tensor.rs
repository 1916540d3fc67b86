use tile_runtime::tiled_kernel;

tiled_kernel! {
    fn first(x: &Tensor<f32, [N]>) -> f32 {
        x[0]
    }

    pub fn k(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = first(a);
    }
}

fn main() {}
