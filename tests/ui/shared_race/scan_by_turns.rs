// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN in pow2(32..=256)), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; 2, TN];
        let i = bx * TN + tx;
        s[0, tx] = a[i];
        let mut from = 0;
        for d in doubling(TN) {
            barrier;
            let mut sum = s[from, tx];
            if tx >= d {
                sum += s[from, tx - d];
            }
            s[from, tx] = sum;
        }
        c[i] = s[from, tx];
    }
}

fn main() {}
