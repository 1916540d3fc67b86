use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] ids: &Tensor<i32, [N]>, x: &Tensor<f32, [N]>, out: &mut Tensor<f32, [V]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        assume(distinct(ids));
        let i = bx * TN + tx;
        out[ids[i]] += x[i];
    }
}

fn main() {}
