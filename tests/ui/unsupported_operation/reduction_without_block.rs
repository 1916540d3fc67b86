use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)),
    {
        c[bx] = reduce_sum(a[bx]);
    }
}

fn main() {}
