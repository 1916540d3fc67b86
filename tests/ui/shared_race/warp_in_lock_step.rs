use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// The last steps of a sum, written as if a warp ran in lock step.
    pub fn k(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [B]>)
    where tile: (TN = 64), grid: (bx in B), block: (tx in TN),
    {
        shared s: [f32; TN];
        s[tx] = a[bx * TN + tx];
        barrier;
        if tx < 32 {
            for d in halving(TN) {
                if tx < d {
                    s[tx] += s[tx + d];
                }
            }
        }
        if tx == 0 {
            c[bx] = s[0];
        }
    }
}

fn main() {}
// errors: 2
