use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(k: u32, from: &Tensor<f32, [N, N]>, to: &mut Tensor<f32, [N, N]>)
    where tile: (TY, TX), grid: (by in tiles(N, TY), bx in tiles(N, TX)), block: (ty in TY, tx in TX),
    {
        let i = by * TY + ty;
        let j = bx * TX + tx;
        to[i, j] = from[i, (k / 2) as index] + from[i, j];
    }
}

fn main() {}
