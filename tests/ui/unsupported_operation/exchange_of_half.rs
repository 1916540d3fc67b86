use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<f16, [N]>, c: &mut Tensor<f16, [1]>, out: &mut Tensor<f16, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let old = atomic c[0].swap(a[i]);
        out[i] = old;
    }
}

fn main() {}
