use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(x: &Tensor<f32, [H, W]>, y: &mut Tensor<f32, [(H + 1) / 2, W / 2]>)
    where tile: (TY, TX), grid: (by in tiles(H, 2 * TY), bx in tiles(W, 2 * TX)), block: (ty in TY, tx in TX),
    {
        let i = by * TY + ty;
        let j = bx * TX + tx;
        let mut m = f32::MIN;
        for di in 0..2 {
            for dj in 0..2 {
                m = max(m, x[2 * i + di, 2 * j + dj]);
            }
        }
        y[i, j] = m;
    }
}

fn main() {}
