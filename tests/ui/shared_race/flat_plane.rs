// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [H, W]>, c: &mut Tensor<f32, [H, W]>)
    where tile: (TY in [4, 8], TX in [16, 32]), grid: (by in tiles(H, TY), bx in tiles(W, TX)), block: (ty in TY, tx in TX),
    {
        shared s: [f32; TY * TX];
        s[ty * TX + tx] = a[by * TY + ty, bx * TX + tx];
        c[by * TY + ty, bx * TX + tx] = s[ty * TX + (tx + 1) % TX];
    }
}

fn main() {}
