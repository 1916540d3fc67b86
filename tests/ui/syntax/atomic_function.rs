use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [1]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        atomicAdd(c[0], a[bx * TN + tx]);
    }
}

fn main() {}
