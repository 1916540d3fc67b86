use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(c: &mut Tensor<i32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = reduce_max(tx) as i32;
    }
}

fn main() {}
