// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN in [64, 128, 256]), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; TN];
        let i = bx * TN + tx;
        s[tx] = a[i];
        for d in doubling(TN) {
            barrier;
            let at = 2 * d * (tx + 1) - 1;
            if at < TN {
                s[at] += s[at - d];
            }
        }
        barrier;
        if tx == 0 {
            s[TN - 1] = 0.0;
        }
        for d in halving(TN) {
            barrier;
            let at = 2 * d * (tx + 1) - 1;
            if at < TN {
                let left = s[at - d];
                s[at - d] = s[at];
                s[at] += left;
            }
        }
        c[i] = s[tx];
    }
}

fn main() {}
