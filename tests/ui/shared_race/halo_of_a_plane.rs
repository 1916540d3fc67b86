// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [H, W]>, c: &mut Tensor<f32, [H, W]>)
    where tile: (TY in 2..=32, TX in 2..=32), grid: (by in tiles(H, TY), bx in tiles(W, TX)), block: (ty in TY, tx in TX),
    {
        shared s: [f32; TY + 2, TX + 2];
        load s[i, j] = a[by * TY + i - 1, bx * TX + j - 1];
        c[by * TY + ty, bx * TX + tx] = s[ty, tx + 1] + s[ty + 2, tx + 1] + s[ty + 1, tx] + s[ty + 1, tx + 2];
    }
}

fn main() {}
