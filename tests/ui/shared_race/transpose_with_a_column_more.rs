// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [R, C]>, b: &mut Tensor<f32, [C, R]>)
    where grid: (by in tiles(R, 32), bx in tiles(C, 32)), block: (ty in 8, tx in 32),
    {
        shared s: [f32; 32, 33];
        for k in (0..32).step_by(8) {
            s[ty + k, tx] = a[by * 32 + ty + k, bx * 32 + tx];
        }
        for k in (0..32).step_by(8) {
            b[bx * 32 + ty + k, by * 32 + tx] = s[tx, ty + k];
        }
    }
}

fn main() {}
