// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN in 2..=256), grid: (bx in tiles(N, 4 * TN)), block: (tx in TN),
    {
        shared s: [f32; 4 * TN];
        for i in 0..4 {
            s[i * TN + tx] = a[bx * 4 * TN + i * TN + tx];
        }
        for i in 0..4 {
            c[bx * 4 * TN + i * TN + tx] = s[4 * TN - 1 - i * TN - tx];
        }
    }
}

fn main() {}
