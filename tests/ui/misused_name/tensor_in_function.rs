use tile_runtime::tiled_kernel;

tiled_kernel! {
    fn first(x: f32) -> f32 {
        x + c[0]
    }

    pub fn k(c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = first(1.0);
    }
}

fn main() {}
