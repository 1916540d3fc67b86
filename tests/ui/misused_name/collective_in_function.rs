use tile_runtime::tiled_kernel;

tiled_kernel! {
    fn total(x: f32) -> f32 {
        reduce_sum(x)
    }

    pub fn k(c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = total(1.0);
    }
}

fn main() {}
