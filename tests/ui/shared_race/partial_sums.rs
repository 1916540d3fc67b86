// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [R, C]>, #[pad = 0] x: &Tensor<f32, [C]>, y: &mut Tensor<f32, [R]>)
    where tile: (TY in 2..=32, TX in 2..=32), grid: (by in tiles(R, TY)), block: (ty in TY, tx in TX),
    {
        shared s: [f32; TY, TX];
        let mut sum = 0.0;
        for k in (tx..C).step_by(TX) {
            sum += a[by * TY + ty, k] * x[k];
        }
        s[ty, tx] = sum;
        if tx == 0 {
            let mut row = 0.0;
            for k in 0..TX {
                row += s[ty, k];
            }
            y[by * TY + ty] = row;
        }
    }
}

fn main() {}
