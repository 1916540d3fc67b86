// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [B]>)
    where tile: (TN in [64, 128, 256]), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; TN];
        s[tx] = a[bx * TN + tx];
        for d in doubling(TN) {
            if tx % (2 * d) == 0 {
                s[tx] += s[tx + d];
            }
        }
        if tx == 0 {
            c[bx] = s[0];
        }
    }
}

fn main() {}
