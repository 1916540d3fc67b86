// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN in pow2(32..=256)), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; TN];
        let i = bx * TN + tx;
        s[tx] = a[i];
        barrier;
        for d in doubling(TN) {
            let mut sum = s[tx];
            if tx >= d {
                sum += s[tx - d];
            }
            s[tx] = sum;
            barrier;
        }
        c[i] = s[tx];
    }
}

fn main() {}
