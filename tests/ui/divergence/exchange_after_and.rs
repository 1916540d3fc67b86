use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(n: i32, #[pad = 0] a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if a[i] > n && any(a[i] > 0) {
            c[i] = 1;
        }
    }
}

fn main() {}
