use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<i32, [N]>, counts: &mut Tensor<u32, [B]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            counts[a[i]] += 1;
        }
    }
}

fn main() {}
