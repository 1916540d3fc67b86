use tile_runtime::tiled_kernel;

tiled_kernel! {
    #[deny(bank_conflicts, device = "H200", N = 1_048_576, TN = 256)]
    pub fn sum_of_tiles(#[pad = 0] x: &Tensor<f32, [N]>, sums: &mut Tensor<f32, [tiles(N, TN)]>)
    where
        tile: (TN in pow2(32..=1024)),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        shared s: [f32; TN];
        s[tx] = x[bx * TN + tx];
        barrier;
        for d in doubling(TN) {
            let i = 2 * d * tx;
            if i < TN {
                s[i] += s[i + d];
            }
            barrier;
        }
        if tx == 0 {
            sums[bx] = s[0];
        }
    }
}

fn main() {}
