use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<bool, [N]>, c: &mut Tensor<bool, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let mut any: Acc<bool> = false;
        any |= a[i];
        c[i] = any;
    }
}

fn main() {}
