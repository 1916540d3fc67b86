// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where grid: (bx in tiles(N, 128)), block: (tx in 128),
    {
        shared s: [f32; 128];
        s[tx] = a[bx * 128 + tx];
        for k in doubling(128) {
            for d in halving(2 * k) {
                let other = tx ^ d;
                if other > tx {
                    let low = min(s[tx], s[other]);
                    let high = max(s[tx], s[other]);
                    let up = tx & (2 * k) == 0;
                    s[tx] = if up { low } else { high };
                    s[other] = if up { high } else { low };
                }
            }
        }
        barrier;
        c[bx * 128 + tx] = s[tx];
    }
}

fn main() {}
