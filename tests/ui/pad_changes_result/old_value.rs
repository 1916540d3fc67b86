use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<i32, [N]>, counts: &mut Tensor<u32, [B]>, ranks: &mut Tensor<u32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            let rank = atomic counts[a[i]] += 1;
            ranks[i] = rank;
        }
    }
}

fn main() {}
