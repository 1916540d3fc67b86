// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [B]>)
    where tile: (TN in pow2(32..=256)), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [T; TN];
        s[tx] = a[bx * TN + tx];
        for st in halving(TN) {
            barrier;
            if tx < st {
                s[tx] += s[tx + st / 2];
            }
        }
        barrier;
        if tx == 0 {
            c[bx] = s[0];
        }
    }
}

fn main() {}
