// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [f32; TN];
        let mut sum: f32 = 0;
        for k in 0..4 {
            if sum > a[i] {
                break;
            }
            s[tx] = sum;
            barrier;
            sum += s[TN - 1 - tx];
            barrier;
        }
        c[i] = sum;
    }
}

fn main() {}
